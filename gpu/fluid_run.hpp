#pragma once
/// A kernel as one flow whose bound follows from its wave count (see KernelGrain::fluid).

#include <optional>
#include <span>
#include <vector>

#include "engine/event.hpp"
#include "gpu/kernel_run.hpp"

namespace c3 {

/// The kernel keeps every slot it is given until its end, and progresses at 1 / (waves x time of a work group), the
/// waves being those of the XCD with the fewest slots for its share of the grid.
/// Wrong when: another kernel needs the slots that the last, thin wave frees.
class FluidRun final : public DispatchClient {
 public:
  FluidRun(Gpu& gpu, const KernelDescription& kernel, const KernelLaunch& launch, ActivityId activity);

  Event& done() { return done_; }
  void on_placed(int xcd, std::span<const int> cus) override;

 private:
  struct Slot {
    int xcd, cu;
  };
  Task run();
  double bound() const;
  FlowSpec whole_kernel();

  Gpu& gpu_;
  Simulation& simulation_;
  Dispatcher& dispatcher_;
  const KernelDescription& kernel_;
  KernelLaunch launch_;
  ActivityId activity_;
  std::vector<Slot> slots_;
  std::vector<std::int64_t> slots_in_xcd_;
  std::vector<Demand> demands_;
  double hbm_rate_ = kUnbounded;  ///< progress that HBM alone allows [1/s], for the kernel's own mix of reads and writes
  std::optional<FlowId> flow_;
  bool started_ = false;
  Event done_;
};

}  // namespace c3
