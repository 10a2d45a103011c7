#pragma once
/// Tiles and splits of K that a library has for a product, and what follows from each; which of them a product
/// gets: gemm_choice.hpp.

#include <cstdint>
#include <span>
#include <vector>

#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "gpu/library_kernels.hpp"
#include "gpu/spec.hpp"

namespace c3 { inline namespace gpu {

/// A tile, a split of K, and what follows from them.
struct GemmPlan {
  GemmTile tile;
  std::int64_t split = 1;
  std::int64_t work_groups = 1;
  std::int64_t band = 1;             ///< columns of tiles that the grid goes down together; 1: rows fastest
  std::int64_t k_of_work_group = 1;  ///< padded to whole steps
  Seconds arithmetic;  ///< of one work group with a CU to itself: products, operands from LDS and L2, filling
                       ///< and draining
  Seconds least;       ///< of one work group: too few wavefronts, or steps that wait for one another
  Seconds reduction;   ///< adding the parts of a split K
  Bytes l2_loads;      ///< of one work group
  Seconds launch;      ///< of one call alone as measured on the device; 0: not measured there
};

/// The tiles that the library of \p gpu has for \p shape.
std::span<const GemmTile> tiles_for(const GemmShape& shape, const GpuSpec& gpu);

/// Whether vector units compute products of \p dtype: fp32 where matrix units do not.
bool on_vector_units(DType dtype, const GpuSpec& gpu);

/// The coefficients of \p shape's class, by the units that compute it.
const GemmCoefficients& coefficients_for(const GemmShape& shape, const GpuSpec& gpu);

/// What fetching operands costs beside multiplying them: sqrt(1 + (c/A)^2) for a tile of m x n, A = m n / (m +
/// n), with c the class's `operand` scaled by the CU's multiplications a clock, because staging does not grow
/// with them.
double operand_loss(const GemmTile& tile, DType dtype, const GpuSpec& gpu);

/// The smallest operand_loss of the tiles that \p gpu has for \p dtype.
double least_operand_loss(DType dtype, const GpuSpec& gpu);

/// The plan of \p kernel, whose split is lowered until each part of K has a step. Its work groups have the
/// wavefronts of the GPU's tile of the same sides; else 4, or 1 for 256 results and fewer (rocBLAS's kernels
/// for matrix units). \throws as plans_of
GemmPlan plan_by(const GemmShape& shape, const GpuSpec& gpu, const LibraryGemm& kernel);

/// A plan for each of the GPU's tiles and splits of K that a library would consider, at least one.
/// \throws InfeasibleError without the data type or tiles.
std::vector<GemmPlan> plans_of(const GemmShape& shape, const GpuSpec& gpu);

}}  // namespace c3::gpu
