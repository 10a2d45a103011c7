#pragma once
/// A kernel of which the time alone is known, not what it does: an estimate, or one line of a profile.

#include <string>

#include "engine/task.hpp"
#include "engine/units.hpp"

namespace c3::inline gpu {

class Gpu;
struct KernelLaunch;

/// What it takes with a GPU to itself.
struct TimedKernel {
  Seconds duration;  ///< > 0
  Bytes read = {};   ///< from HBM, spread evenly over its time
  Bytes written = {};

  bool operator==(const TimedKernel&) const = default;
};

/// Runs \p kernel, called \p name. It takes longer where others want the bandwidth of HBM that it needs, and on
/// a slow GPU, as if all of it were arithmetic. Wrong when: others want its CUs, its caches or its clock, of
/// which it holds nothing.
Task run_timed_kernel(Gpu& gpu, std::string name, TimedKernel kernel, KernelLaunch launch);

}  // namespace c3::gpu
