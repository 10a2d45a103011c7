#pragma once
/// A kernel as one flow whose bound follows from its wave count (see KernelGrain::fluid).

#include <optional>
#include <span>
#include <vector>

#include "engine/event.hpp"
#include "gpu/gpu.hpp"
#include "gpu/kernel.hpp"
#include "gpu/kernel_launch.hpp"

namespace c3 { inline namespace gpu {

/// The kernel keeps every slot it is given until its end, and progresses at the slower of two rates: what HBM
/// allows its bytes, and 1 / (first loads + waves x time of a work group + tail), the waves being wave_count's.
/// The tail is the slowest work group of the last wave, or its stores. Wrong when: another kernel needs the
/// slots that the last, thin wave frees; compute and HBM take about equally long, because a work group then
/// waits for each in turn.
class FluidRun final : public DispatchClient, public LoneClient, public ComputeClient {
 public:
  /// \param known what it takes, in place of what follows from its waves
  FluidRun(Gpu& gpu, const KernelDescription& kernel, const KernelLaunch& launch, ActivityId activity,
           std::optional<Seconds> known = std::nullopt);

  Event& done() { return done_; }
  Seconds began() const { return began_; }  ///< date at which its first work groups were placed
  void on_placed(int xcd, std::span<const int> cus) override;
  void on_placed_alone(const GridPlacement& placement) override;
  void on_company() override;
  double arithmetic_asked(int groups) override;
  void on_shares_changed(int xcd) override;

 private:
  Task run();
  void begin();
  void leave();
  /// Its work groups. A CU may come several times where they were placed one after another.
  const GridPlacement& held() const { return alone_ != nullptr ? *alone_ : held_; }
  std::span<const BoundTerm> laws();
  FlowSpec whole_kernel();
  double weight(double alone);
  std::int64_t waves() const;
  const Traffic& traffic();
  int computing_beside() const;  ///< work groups of any kernel on the fullest CU
  /// What its CUs give it: siblings on the fullest CU, and what others leave it there, on the mean and at
  /// least.
  struct Shares {
    int groups = 1;
    double mean = 1.0, least = 1.0;
  };
  Shares shares() const;

  Gpu& gpu_;
  Simulation& simulation_;
  Dispatcher& dispatcher_;
  const KernelDescription& kernel_;
  KernelLaunch launch_;
  ActivityId activity_;
  const GridPlacement* alone_ = nullptr;  ///< while nobody else is on the GPU
  GridPlacement held_;                    ///< otherwise
  std::int64_t resident_ = 0;             ///< work groups in all slots
  std::optional<Traffic> traffic_;        ///< of one work group, fixed when the first are placed
  std::vector<Demand> demands_;
  std::vector<BoundTerm> laws_;
  double hbm_rate_ = kUnbounded;  ///< progress that HBM alone allows this mix of reads and writes [1/s]
  std::optional<FlowId> flow_;
  std::optional<Seconds> known_;
  bool started_ = false;
  Seconds began_;
  Event done_;
};

}}  // namespace c3::gpu
