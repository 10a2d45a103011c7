#pragma once
/// When a kernel counts for the core clock of its GPU.

#include "gpu/clock/governor.hpp"
#include "gpu/gpu.hpp"
#include "gpu/kernel.hpp"
#include "gpu/kernel_launch.hpp"

namespace c3 { inline namespace gpu {

/// Power of \p kernel by itself at its clock, on the CUs that it may use.
inline Watts power_of(const Gpu& gpu, const KernelDescription& kernel, const KernelLaunch& launch) {
  return power_on(gpu.spec(), kernel.power, launch.range.size() * gpu.spec().compute.xcds);
}

/// Its first work groups have been placed: a kernel that waits for slots draws nothing and slows nobody.
inline void enter_clock(Gpu& gpu, const KernelDescription& kernel, const KernelLaunch& launch) {
  gpu.clock(launch.stream).enter(kernel.clock, power_of(gpu, kernel, launch));
}

/// It has ended.
inline void leave_clock(Gpu& gpu, const KernelDescription& kernel, const KernelLaunch& launch) {
  gpu.clock(launch.stream).leave(kernel.clock, power_of(gpu, kernel, launch));
}

}}  // namespace c3::gpu
