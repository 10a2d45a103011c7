#pragma once
/// Kernels of pools.

#include <string>

#include "gpu/kernel.hpp"
#include "gpu/kernels/pool/pool_shape.hpp"

namespace c3 { inline namespace gpu {

/// Describes \p shape on \p gpu as PyTorch's kernels do it (pool_launch.hpp). A clear of the gradient precedes
/// a max pool's backward pass.
///
/// Time is that of the slower of issuing instructions (pool_instructions.hpp) and moving bytes (bytes_of), as
/// of vector operators. Where few waves fit on a CU, or few of a work group have places left, they do not fill
/// the issue slots: a wave issues an instruction each `wave_interval` cycles, and waits `first_load_cycles` for
/// each element that no place before it loaded. Every tensor crosses HBM once, but for what the caches hold
/// from the operator before: windows that overlap hit the caches. Wrong when: rows that a work group shares do
/// not fit in the caches. \throws InfeasibleError when an extent is < 1, no window fits the padded image, a pad
/// is wider than half a window, or the tensors do not fit into the GPU's memory.
KernelDescription describe_pool(std::string name, const PoolShape& shape, const GpuSpec& gpu);

}}  // namespace c3::gpu
