#pragma once
/// Kernels of batch normalisation.

#include <string>

#include "gpu/kernel.hpp"
#include "gpu/kernels/batch_norm/batch_norm_shape.hpp"

namespace c3 { inline namespace gpu {

/// Describes \p shape on \p gpu as the kernels of cuDNN do it, one forward and one backward.
///
/// In NCHW a work group of 512 threads has a channel, so that few channels leave CUs idle. It goes through the
/// channel twice, and loads it again unless it can keep it: its loads (the input, and backward the gradient)
/// fit half of a CU's shared memory. In NHWC work groups that stay, two a CU, deal the pixels among themselves;
/// they keep what their registers and shared memory hold, and load the rest again.
///
/// Time is that of the slower of issuing instructions and moving bytes, the norm of both with exponent 4, as of
/// other kernels with phases; in NHWC their sum for what is kept, which is loaded before the rest is done. A
/// work group takes at least its threads' elements in turn, each the longer of its instructions at
/// `wave_interval` and, backward where it loads twice, of two loads from HBM
/// (`first_load_cycles`) that are not issued ahead; then its sums, `block_us`.
///
/// Source: kernels, grids, registers and instructions of cuDNN 9.19 on an H200, 16 shapes of 64 images
/// (studies/one_gpu/image_instructions.csv). cuDNN 7 has the same kernels for NCHW by name; MIOpen's
/// BnFwdTrainingSpatialSingle has a work group for each channel, too, and the rest is assumed alike. Wrong
/// when: a library takes another kernel, as MIOpen does for images of NCHW whose batch is over 2^25 pixels, and
/// other work groups than 512 threads, as cuDNN does for some shapes. \throws InfeasibleError when an extent is
/// < 1 or the tensors do not fit into the GPU's memory.
KernelDescription describe_batch_norm(std::string name, const BatchNormShape& shape, const GpuSpec& gpu);

}}  // namespace c3::gpu
