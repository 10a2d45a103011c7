#pragma once
/// Kernels without a matrix product: elementwise, row-wise, tables and optimizers. They wait for memory.

#include <string>

#include "gpu/kernel.hpp"
#include "gpu/kernels/vector/vector_shape.hpp"

namespace c3 { inline namespace gpu {

/// Describes \p shape on \p gpu as the kernels of PyTorch do it: elementwise operators and tables in work
/// groups of 128 threads with 16 B each; softmax of short rows (<= 1,024) in registers, of long rows with a
/// work group a row that goes through it three times; layer and RMS norm as TransformerEngine does it, a wave a
/// row up to 2,048 columns, a work group a row and two passes beyond, or PyTorch itself (`is_eager`), always
/// the latter. HBM bytes: all tensors once, but for what the caches still hold from the operator before; later
/// passes over a row as far as the resident rows do not fit in LDS/L1 and L2 (gpu/kernels/README.md).
/// Wrong when: a kernel uses tensors of unlike layouts; rows are few and long (one work group a row).
/// \throws InfeasibleError when an extent is < 1 or the tensors do not fit into the GPU's memory.
KernelDescription describe_vector(std::string name, const VectorShape& shape, const GpuSpec& gpu);

}}  // namespace c3::gpu
