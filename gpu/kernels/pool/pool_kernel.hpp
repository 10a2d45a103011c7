#pragma once
/// Kernels of pools.

#include <string>

#include "gpu/kernel.hpp"
#include "gpu/kernels/pool/pool_shape.hpp"

namespace c3::inline gpu {

/// Describes \p shape on \p gpu as PyTorch's kernels for NCHW do it: a thread makes an output, or backward an
/// element of the input's gradient, in work groups of 256 (max) or 1,024 (average) threads. Those of a max
/// pool's backward pass never cross from one channel of an image to the next, so that small images leave
/// threads idle, and a clear of the gradient precedes it.
///
/// Time is that of the slower of issuing instructions (pool_instructions.hpp) and moving bytes (bytes_of), as
/// of vector operators. Every tensor crosses HBM once, but for what the caches hold from the operator before:
/// windows that overlap hit the caches. Wrong when: rows that a work group shares do not fit in the caches;
/// tensors are NHWC. \throws InfeasibleError when an extent is < 1, no window fits the padded image, a pad is
/// wider than half a window, or the tensors do not fit into the GPU's memory.
KernelDescription describe_pool(std::string name, const PoolShape& shape, const GpuSpec& gpu);

}  // namespace c3::gpu
