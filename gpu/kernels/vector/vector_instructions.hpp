#pragma once
/// How many instructions vector operators issue, and how long a CU takes to issue them.

#include "engine/units.hpp"
#include "gpu/kernels/vector/vector_shape.hpp"
#include "gpu/spec.hpp"

namespace c3 { inline namespace gpu {

/// Exponentials that a CU issues in a clock: 4 special-function units in each of 4 partitions.
inline constexpr double kExponentialsPerClock = 16;
/// From one kernel to the next in a graph, of tables that were measured so: the smallest tensors are quantised
/// in 1.35 us, less two latencies of HBM (quantize_fp8_h100_sxm.csv, ai-dynamo/aiconfigurator commit 095f58a5).
inline constexpr Seconds kGraphLaunch{0.25e-6};

/// Of one element of \p shape, which reads its input \p passes times: loads, stores, conversions and
/// arithmetic. Measured by counters on an H100 and an H200
/// (`studies/one_gpu/instructions.csv`, `image_instructions.csv`), of kernels of PyTorch 2.9 and 2.11; those of
/// other libraries and vendors are assumed to be as many. Wrong where a kernel handles two packed 16-bit
/// numbers by one instruction.
double instructions_of(const VectorShape& shape, const VectorCoefficients& coefficients, double passes = 1.0);

/// Instructions that one CU of \p gpu issues in a second, counted by thread.
double instructions_per_second(const GpuSpec& gpu);

}}  // namespace c3::gpu
