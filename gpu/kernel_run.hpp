#pragma once
/// Running a compute kernel on a GPU, at three grains.

#include "gpu/gpu.hpp"
#include "gpu/kernel.hpp"
#include "gpu/kernel_launch.hpp"

namespace c3 { inline namespace gpu {

/// Runs \p kernel from its release to its last store.
///
/// Cohorts: the work groups of a kernel that are placed on an XCD at one instant are split so that a full XCD
/// holds `cohorts_per_placement` of them. A cohort is a prologue (its first loads: memory latency, no compute),
/// a steady flow (bound by its compute time, which is drawn once per cohort, and by the bytes left to load)
/// and, when it has left its CUs, its stores. Bytes are fixed at dispatch, from the cache state found then.
/// A kernel whose time is known (KernelLaunch::times) is one flow of that time with the bytes of all its work
/// groups, and keeps its slots until its end.
/// Phases of its call (KernelDescription::before, after) are flows of their own, of all its stream's CUs.
/// Wrong when: work groups of a kernel differ (ragged tiles are padded), or synchronise with one another.
Task run_kernel(Gpu& gpu, KernelDescription kernel, KernelLaunch launch);

}}  // namespace c3::gpu
