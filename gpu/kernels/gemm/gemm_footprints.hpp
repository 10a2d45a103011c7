#pragma once
/// Which addresses of its operands a product touches at about the same time.

#include <array>

#include "gpu/channels/footprint.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"

namespace c3 { inline namespace gpu {

/// A[m,k], B[k,n] and C[m,n] as the layout has them: of operands one step of K of all rows that lie along it,
/// `kStepOfProduct` elements each, or as many whole rows that lie across it; of the result, the parts of rows
/// of a tile.
std::array<TouchedTensor, 3> touched_by(const GemmShape& gemm);

}}  // namespace c3::gpu
