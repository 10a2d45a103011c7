#pragma once
/// What one flow misses of a kernel's time.

#include "gpu/compute_units.hpp"
#include "gpu/kernel.hpp"
#include "gpu/spec.hpp"

namespace c3 { inline namespace gpu {

/// How many times as long the main grid of \p kernel takes as cohorts than as one flow (KernelGrain), with
/// nothing beside it on \p range of an idle \p gpu: the mean over a few draws of its work groups' times.
/// Both are simulated. A flow that is slowed down by as much (KernelLaunch::correction) takes as long as
/// cohorts, at a hundredth of their cost. Wrong when: what runs beside a kernel changes what the flow misses of
/// it.
double cohorts_over_flow(const GpuSpec& gpu, const KernelDescription& kernel, CuRange range);

}}  // namespace c3::gpu
