#pragma once
/// How many instructions pools issue.

#include "gpu/kernels/pool/pool_shape.hpp"

namespace c3 { inline namespace gpu {

/// Instructions that a wave of \p shape issues for a place of each of its lanes: an output, or backward an
/// element of the input's gradient. It works out where the place's window lies (max pools in NHWC: once for
/// up to four channels) and goes through the elements of the window, or backward through the windows that have
/// the element. In NCHW the lanes of a wave are neighbours of a row, and it goes on until the last one is done;
/// in NHWC they are channels of one place.
///
/// Counted on an H200, of PyTorch 2.11: eight kernels, windows of 3 x 3 by 1 or 2 and of 2 x 2 by 2, in fp16
/// and fp32 (studies/one_gpu/image_instructions.csv); these counts come within 1 % of the kernels' in the
/// mean, 3.1 % in the backward max pool in NHWC, at most 6.4 %. Those of other GPUs, libraries and vendors are
/// assumed to be as many. Wrong when: a compiler unrolls loops over windows.
double instructions_of(const PoolShape& shape);

/// Elements of the input (backward: of the output's gradient) that come to a place and no other before it.
double fresh_elements(const PoolShape& shape);

}}  // namespace c3::gpu
