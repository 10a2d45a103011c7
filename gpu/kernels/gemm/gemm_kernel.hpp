#pragma once
/// GEMM kernels from tile geometry: bytes at each cache level, time of one tile.

#include <string>

#include "gpu/kernel.hpp"
#include "gpu/kernels/gemm/gemm_plan.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"

namespace c3::inline gpu {

struct GpuUse;

/// Describes the GEMM on \p gpu, one work group for each of the GPU's GEMM tiles, dispatched with m fastest. A
/// tile's time is its (padded) flops at the CU's part of the sustained matrix rate. Wrong when: the library
/// splits K or runs persistently; when k is so short that the epilogue dominates. \throws InfeasibleError when
/// the GPU has no such matrix rate, or \p shape has an extent < 1.
KernelDescription describe_gemm(std::string name, const GemmShape& shape, const GpuSpec& gpu);

/// The same of operands that need not lie in memory as matrices, so that nothing asks whether they fit there.
KernelDescription describe_product(std::string name, const GemmShape& shape, const GpuSpec& gpu);
/// The same by a plan of \p gpu for \p shape that is not the library's choice.
KernelDescription describe_product(std::string name, const GemmShape& shape, const GpuSpec& gpu,
                                   const GemmPlan& plan);

/// Which numbers of \p gpu the plan and the time of \p shape depend on.
GpuUse use_of_product(const GemmShape& shape, const GpuSpec& gpu);

}  // namespace c3::gpu
