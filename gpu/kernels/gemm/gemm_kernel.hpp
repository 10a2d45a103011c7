#pragma once
/// GEMM kernels from tile geometry: bytes at each cache level, time of one tile.

#include <string>

#include "gpu/kernel.hpp"
#include "gpu/kernels/gemm/gemm_plan.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"

namespace c3 { inline namespace gpu {

struct GpuUse;

/// Describes the product on \p gpu by \p plan, one work group for each tile and part of K. A tile's time is its
/// (padded) flops at the CU's part of the sustained matrix rate. Nothing asks whether the operands fit into
/// memory. Wrong when: k is so short that the epilogue dominates. \throws InfeasibleError when the GPU has no
/// such matrix rate.
KernelDescription describe_product(std::string name, const GemmShape& shape, const GpuSpec& gpu,
                                   const GemmPlan& plan);

/// Which numbers of \p gpu the plan and the time of \p shape depend on.
GpuUse use_of_product(const GemmShape& shape, const GpuSpec& gpu);

}}  // namespace c3::gpu
