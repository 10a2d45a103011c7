#pragma once
/// Names of MIOpen's solvers.

#include <optional>
#include <string_view>

#include "gpu/kernels/convolution/convolution_shape.hpp"

namespace c3 { inline namespace gpu {

/// Which of our solvers computes as MIOpen's \p name does, as its find-db has them by algorithm:
/// "ConvBinWinogradRxS" is `winograd`. Absent: none does, as of naive kernels ("ConvDirectNaiveConvFwd"), or
/// the name is not MIOpen's.
std::optional<ConvolutionSolver> solver_like_miopens(std::string_view name);

}}  // namespace c3::gpu
