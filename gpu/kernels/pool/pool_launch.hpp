#pragma once
/// How PyTorch launches the kernels of pools.

#include "engine/units.hpp"
#include "gpu/kernels/pool/pool_shape.hpp"

namespace c3 { inline namespace gpu {

/// A place is an output, or backward an element of the input's gradient: what one thread makes at a time.
struct PoolLaunch {
  double work_groups = 1;
  double block = 256;     ///< threads of a work group
  double registers = 32;  ///< of a thread, 4 bytes each
  Bytes lds;              ///< of a work group
  double places = 256;  ///< for which a work group issues instructions, idle lanes of its waves included; mean
  double in_turn = 1;   ///< places that one thread makes one after another; mean of the work groups
};

/// Blocks of 256 (max) or 1,024 (average) threads, a place each; those of a max pool's backward pass never
/// cross from one channel of an image to the next, so that small images leave threads idle. A max pool in NHWC
/// has blocks of channels x columns x rows, which keep results in shared memory and in which each thread makes
/// about two columns and two rows of up to four channels.
/// Source: grids, blocks and registers of PyTorch 2.11 on an H200 (studies/one_gpu/image_instructions.csv) and
/// aten/src/ATen/native/cuda/DilatedMaxPool2d.cu; those of other GPUs and libraries are assumed alike.
PoolLaunch launch_of(const PoolShape& shape);

/// Channels for which a thread works out once where a window lies: 1 to 4 of max pools in NHWC, else 1.
double channels_of_thread(const PoolShape& shape);

}}  // namespace c3::gpu
