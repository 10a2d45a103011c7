#pragma once
/// Durations of kernels that were simulated, for others like them.

#include <optional>

#include "engine/units.hpp"

namespace c3 { inline namespace gpu {

/// What a launch knows of kernels like its own, and hears of it. All times are from the first work group's
/// placement to the last store: waiting for slots is not part of them.
class KernelTimes {
 public:
  virtual ~KernelTimes() = default;
  /// Asked when the kernel is submitted, the GPU's arithmetic running at \p speed (1 at boost clock), before
  /// the kernel itself lowers the clock: how long it takes, where it is to be replayed and not simulated.
  virtual std::optional<Seconds> known(double speed) = 0;
  /// The kernel has ended after \p time.
  virtual void ended(Seconds time) = 0;
};

}}  // namespace c3::gpu
