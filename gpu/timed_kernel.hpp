#pragma once
/// A kernel of which the time alone is known, not what it does: an estimate, or one line of a profile.

#include <cstdint>
#include <string>

#include "engine/task.hpp"
#include "engine/units.hpp"

namespace c3::inline gpu {

class Gpu;
struct KernelLaunch;

/// What the time of a timed kernel holds.
enum class Timing : std::uint8_t {
  alone,   ///< what it takes with a GPU to itself
  in_situ  ///< what it took beside others, which it then never waits for again
};

struct TimedKernel {
  Seconds duration;  ///< > 0; of Timing::in_situ >= 0
  Bytes read = {};   ///< from HBM, spread evenly over its time
  Bytes written = {};
  Timing timing = Timing::alone;

  bool operator==(const TimedKernel&) const = default;
};

/// Runs \p kernel, called \p name. One that was timed in situ takes its duration, whatever runs beside it; what
/// it moves is served first and slows others. One that was timed alone takes longer where others want the
/// bandwidth of HBM that it needs, and on a slow GPU, as if all of it were arithmetic. Wrong when: others want
/// its CUs, its caches or its clock, of which it holds nothing.
Task run_timed_kernel(Gpu& gpu, std::string name, TimedKernel kernel, KernelLaunch launch);

}  // namespace c3::gpu
