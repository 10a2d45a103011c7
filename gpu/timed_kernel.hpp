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
  Bytes read = {};   ///< from HBM, spread evenly over its time; 0 of Timing::in_situ
  Bytes written = {};
  Timing timing = Timing::alone;

  bool operator==(const TimedKernel&) const = default;
};

/// Runs \p kernel, called \p name. On a slow GPU it takes longer, as if all of it were arithmetic. One that was
/// timed alone also takes longer where others want the bandwidth of HBM that it needs; one that was timed in
/// situ does not, and takes nothing from others. Wrong when: others want its CUs, its caches or its clock, of
/// which it holds nothing.
Task run_timed_kernel(Gpu& gpu, std::string name, TimedKernel kernel, KernelLaunch launch);

}  // namespace c3::gpu
