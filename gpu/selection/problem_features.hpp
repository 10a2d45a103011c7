#pragma once
/// What the trees are told of a kernel's problem: numbers that depend on shape and GPU only.

#include <string>
#include <vector>

#include "gpu/kernels/convolution/convolution_shape.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "gpu/spec.hpp"

namespace c3 { inline namespace gpu {

/// Sizes (as base-2 logarithms), how well tiles and Winograd's patches fit, work groups for each CU, bytes,
/// flops, and the time of each of our solvers over the least of theirs. The same length for all shapes. \throws
/// InfeasibleError when no solver of ours can run \p shape on \p gpu
std::vector<float> features_of(const ConvolutionShape& shape, const GpuSpec& gpu);

/// Sizes, layout, type, how well tiles fit, and work groups for each CU. The same length for all shapes.
std::vector<float> features_of(const GemmShape& shape, const GpuSpec& gpu);

/// Convolutions of one kind can be computed by the same solvers, as far as is known: type, filter, and whether
/// there are strides, dilation and groups, as "fp16 3x3 strided".
std::string kind_of(const ConvolutionShape& shape);

/// Products of one kind have kernels of the same tiles: the type.
std::string kind_of(const GemmShape& shape);

}}  // namespace c3::gpu
