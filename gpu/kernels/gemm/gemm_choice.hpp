#pragma once
/// Which of its plans a product gets: the fastest by the time that is reported, or what was learned from the
/// library's tables. Products whose kernel was tuned for a part of the GPU, beside others that have the rest
/// (GOLDYLOC, arXiv 2409.02227).

#include <cstdint>
#include <functional>
#include <string>

#include "gpu/kernel_time.hpp"
#include "gpu/kernels/gemm/gemm_plan.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "gpu/spec.hpp"

namespace c3 { inline namespace gpu {

/// The plan of the kernel that the library takes by the GPU's GemmChoice: the fastest, or what was learned.
/// \throws InfeasibleError without the data type or tiles.
GemmPlan plan_gemm(const GemmShape& shape, const GpuSpec& gpu);

/// The plan among all of the preset's tiles and splits of K, whatever GemmChoice \p gpu has, with which \p
/// shape takes least time on \p slice of \p gpu: by time_alone, caches included, so that a choice is not
/// slower by the simulator's own times than another would have been. Times within 0.2 % of the shortest are not
/// told apart: of these plans the one with fewest work groups. A plan whose work groups do not fit into a CU is
/// passed over. Wrong when: a power limit slows a choice with more bytes by more. \throws InfeasibleError as
/// plan_gemm, and where no plan fits into a CU
GemmPlan fastest_plan(const GemmShape& shape, const GpuSpec& gpu, const KernelSlice& slice = {});

/// How long a kernel takes that computes a product by a plan as a part of it.
struct PlanTimes {
  std::function<Seconds(const GemmPlan&)> time_of;
  double faster = 1.0;  ///< most by which its arithmetic is faster than the plan's
  Seconds memory = {};  ///< that loads from memory take at least
};
/// The same by \p times.
GemmPlan fastest_plan(const GemmShape& shape, const GpuSpec& gpu, const KernelSlice& slice,
                      const PlanTimes& times);

/// Describes the GEMM on \p gpu by the plan that it gets. \throws InfeasibleError as plan_gemm, when \p shape
/// has an extent < 1, and when its operands do not fit into memory
KernelDescription describe_gemm(std::string name, const GemmShape& shape, const GpuSpec& gpu);
/// The same of operands that need not lie in memory as matrices, so that nothing asks whether they fit there.
KernelDescription describe_product(std::string name, const GemmShape& shape, const GpuSpec& gpu);

}}  // namespace c3::gpu
