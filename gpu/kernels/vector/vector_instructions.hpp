#pragma once
/// How many instructions vector operators issue, and how long a CU takes to issue them.

#include "gpu/kernels/vector/vector_shape.hpp"
#include "gpu/spec.hpp"

namespace c3::inline gpu {

/// Of one element of \p shape, which goes through \p passes over its tensors' first reads: loads, stores,
/// conversions and arithmetic. Measured by counters on an H100 and an H200
/// (`studies/one_gpu/instructions.csv`), of kernels of PyTorch 2.9; those of other libraries and vendors are
/// assumed to be as many. Wrong where a kernel handles two packed 16-bit numbers by one instruction.
double instructions_of(const VectorShape& shape, const VectorCoefficients& coefficients, double passes = 1.0);

/// A second of one CU of \p gpu, of all its threads together: what kernels reach of its issue slots.
double instructions_per_second(const GpuSpec& gpu);

}  // namespace c3::gpu
