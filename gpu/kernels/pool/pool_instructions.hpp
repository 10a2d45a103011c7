#pragma once
/// How many instructions pools issue.

#include "gpu/kernels/pool/pool_shape.hpp"
#include "gpu/spec.hpp"

namespace c3::inline gpu {

/// Lane instructions of all threads of \p shape, each of which makes an output, or backward an element of the
/// input's gradient: what a thread works out of its index, then each row and each element of its window
/// (backward: of each window that has its element), then its stores.
///
/// Counted in the PTX that clang 14 makes of loops as PyTorch's kernels for NCHW have them
/// (aten/src/ATen/native/cuda, DilatedMaxPool2d.cu at commit 010e5e77, AveragePool2d.cu at 006048e4), none
/// unrolled. A product and the sum that takes it are one instruction; moves and jumps without a condition,
/// which the assembler places away, are none. Divisions of integers take what NVIDIA documents, loads, stores
/// and conversions what VectorCoefficients has. Those of other libraries and vendors are assumed to be as many.
/// Wrong when: a compiler unrolls loops over windows; units of integers, which do
/// most of it, take an instruction in every second cycle only; tensors are NHWC, whose kernels keep results in
/// shared memory. Never measured.
double instructions_of(const PoolShape& shape, const VectorCoefficients& coefficients);

}  // namespace c3::gpu
