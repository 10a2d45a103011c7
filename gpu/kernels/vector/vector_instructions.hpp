#pragma once
/// How many instructions vector operators issue, and how long a CU takes to issue them.

#include "gpu/kernels/vector/vector_shape.hpp"
#include "gpu/spec.hpp"

namespace c3 { inline namespace gpu {

/// Of one element of \p shape, which reads its input \p passes times: loads, stores, conversions and
/// arithmetic. Measured by counters on an H100 and an H200
/// (`studies/one_gpu/instructions.csv`, `image_instructions.csv`), of kernels of PyTorch 2.9 and 2.11; those of
/// other libraries and vendors are assumed to be as many. Wrong where a kernel handles two packed 16-bit
/// numbers by one instruction.
double instructions_of(const VectorShape& shape, const VectorCoefficients& coefficients, double passes = 1.0);

/// Instructions that one CU of \p gpu issues in a second, counted by thread.
double instructions_per_second(const GpuSpec& gpu);

}}  // namespace c3::gpu
