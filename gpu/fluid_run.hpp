#pragma once
/// A kernel as one flow whose bound follows from its wave count (see KernelGrain::fluid).

#include <optional>
#include <span>
#include <vector>

#include "engine/event.hpp"
#include "gpu/gpu.hpp"
#include "gpu/kernel.hpp"
#include "gpu/kernel_launch.hpp"
#include "gpu/kernel_time.hpp"
#include "gpu/wave_course.hpp"
#include "gpu/wave_ends.hpp"

namespace c3 { inline namespace gpu {

/// The kernel progresses at the slower of two rates: what HBM allows its bytes, and
/// 1 / (first loads + waves x time of a work group + tail), the waves being wave_count's. The tail is the
/// slowest work group of the last wave, or its stores. It keeps its slots until its end unless another grid
/// waits for some. Then it gives back, when its last wave begins, those that this wave does not need, and, to
/// grids that are served before it, all of its slots at the end of its wave, when both are placed anew.
/// WaveCourse says when waves end. Blocks of a persistent kernel stay to its end. Wrong when: compute and HBM
/// take about equally long, because a work group then waits for each in turn; work groups of a wave end far
/// apart.
class FluidRun final : public DispatchClient, public LoneClient, public ComputeClient, public WaveClient {
 public:
  /// \param known what it takes, in place of what follows from its waves
  FluidRun(Gpu& gpu, const KernelDescription& kernel, const KernelLaunch& launch, ActivityId activity,
           std::optional<Seconds> known = std::nullopt);

  Event& done() { return done_; }
  Seconds began() const { return began_; }  ///< date at which its first work groups were placed
  void on_placed(int xcd, std::span<const int> cus) override;
  void on_placed_alone(const GridPlacement& placement) override;
  void on_company() override;
  void on_newcomer() override;
  void on_wave_end() override;
  double arithmetic_asked(int groups) override;
  void on_shares_changed(int xcd) override;

 private:
  Task run();
  void begin();
  void leave();
  /// Asks to be called at the end of the wave after which it gives slots back.
  void await_wave_end();
  WaveCourse& course();
  bool counts_waves() const;  ///< and gives slots back at their ends
  std::int64_t last_wave();   ///< from 0, of the course
  /// Keeps the slots that the last wave needs.
  void begin_last_wave();
  void keep(std::vector<std::int64_t> most);  ///< work groups, by XCD
  /// Lets grids that are served before it have any of its slots, and is placed anew.
  void offer_slots();
  /// From now on it has other slots, which go_on_course() counts once it has them.
  void stop_course();
  void go_on_course();
  void follow_laws();
  void leave_shares(std::span<const GridPlacement::Slot> slots);
  void release(std::span<const GridPlacement::Slot> slots);
  double progress() const;
  /// Its work groups. A CU may come several times where they were placed one after another.
  const GridPlacement& held() const { return alone_ != nullptr ? *alone_ : held_; }
  std::span<const BoundTerm> laws();
  /// Passes on what its law says of the end of this placement. \param alone without others on its CUs
  void set_end_of_course(const BoundLaw& alone);
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
  const GridPlacement* alone_ = nullptr;           ///< while nobody else is on the GPU
  GridPlacement held_;                             ///< otherwise
  std::int64_t resident_ = 0;                      ///< work groups in all slots, before the last wave
  Occupancy occupancy_;                            ///< with these slots, as of the last law
  std::optional<WaveCourse> course_;               ///< once its waves have been counted
  std::optional<std::vector<std::int64_t>> kept_;  ///< slots by XCD that it has kept while others change
  bool in_last_wave_ = false;                      ///< and has given slots back
  std::optional<Traffic> traffic_;                 ///< of one work group, fixed when the first are placed
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
