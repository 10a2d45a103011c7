#pragma once
/// Products whose kernel was tuned for a part of the GPU, beside others that have the rest (GOLDYLOC, arXiv
/// 2409.02227).

#include <string>

#include "gpu/kernel_time.hpp"
#include "gpu/kernels/gemm/gemm_plan.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "gpu/spec.hpp"

namespace c3::inline gpu {

/// The plan with which \p shape takes least time when it has \p slice of \p gpu, caches included. Of plans that
/// take as long the one with fewer work groups, then the first of the list. Tuning is a search by time among
/// the preset's tiles, whatever GemmChoice \p gpu has. \throws InfeasibleError
GemmPlan plan_tuned_for(const GemmShape& shape, const GpuSpec& gpu, const KernelSlice& slice);

/// A half, a quarter, ..: of the CUs, whole ones on each XCD, and of the caches.
KernelSlice part_of_gpu(const GpuSpec& gpu, int parts);

/// What a kernel holds of a GPU while it runs alone.
struct KernelFootprint {
  std::int64_t work_groups;
  int on_cu;  ///< that one CU holds at once
  double waves;
  Bytes cache;  ///< of operands that its work groups share at one time, at most the last cache
};
KernelFootprint footprint_of(const KernelDescription& kernel, const GpuSpec& gpu);

}  // namespace c3::gpu
