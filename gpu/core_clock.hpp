#pragma once
/// Core clock of one GPU: the lowest sustained clock of what is resident.

#include <functional>
#include <map>
#include <vector>

#include "engine/units.hpp"
#include "gpu/spec.hpp"

namespace c3::inline gpu {

/// A kernel that computes on matrix units pulls the clock of the whole GPU down to what its power allows;
/// everything beside it runs at that clock. With nothing resident the clock is the boost clock. Wrong when:
/// light co-runners would let the clock rise between the two. A slow GPU has \p slower times the period of
/// others, whatever is resident; wrong where a limit of temperature lies above the clock that power allows.
class CoreClock {
 public:
  explicit CoreClock(Hertz boost, double slower = 1.0) : boost_(boost), slower_(slower) {}

  Hertz current() const { return (resident_.empty() ? boost_ : Hertz{resident_.begin()->first}) / slower_; }
  Hertz boost() const { return boost_; }  ///< of a sound GPU

  void enter(Hertz sustained);
  void leave(Hertz sustained);
  /// \p listener is called after each change, for the rest of the run.
  void on_change(std::function<void()> listener) { listeners_.push_back(std::move(listener)); }

 private:
  void notify_if_changed(Hertz before) const;

  Hertz boost_;
  double slower_;
  std::map<double, int> resident_;  ///< kernels by sustained clock [Hz]
  std::vector<std::function<void()>> listeners_;
};

/// Speed of a kernel that the power limit holds at \p sustained, relative to what it has with all CUs and
/// nobody beside it: power that others' HBM traffic takes is missing, and that of CUs which it does not have
/// goes to the others, as far as the boost clock. Clock ~ (power of a CU)^0.63, from MI300X and MI325X, the
/// same die with 750 and 1,000 W: 1,207 and 1,447 MHz (AMD, maximum achievable FLOPS part 2, 2025; fp16 gives
/// 0.68, fp8 0.61). PowerSpec::coupling is the part of this that is believed. Wrong when: power not spent by
/// CUs is large or the limit is thermal.
double speed_under_power_limit(const GpuSpec& gpu, Hertz sustained, BytesPerSecond others, double cus_taken);

}  // namespace c3::gpu
