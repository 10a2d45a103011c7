#pragma once
/// Operators that units inside the memory run (PimSpec).

#include "gpu/kernels/vector/vector_shape.hpp"
#include "gpu/timed_kernel.hpp"

namespace c3 { inline namespace gpu {

/// Whether units that see the rows of their own banks can compute \p op: elementwise operators, sums,
/// quantisation and optimizers, not what goes along a tensor's rows more than once or looks up a table.
bool runs_in_memory(VectorOp op);

/// \p shape inside \p hbm: as many bytes as its kernel on the GPU reads and writes, at
/// PimSpec::amplification() times the rate that HBM alone has outside for their mix, in PimSpec::slots of the
/// time. Source: HBM-PIM, Lee et al., ISCA 2021, where all banks of a channel answer one column command. Wrong
/// when: operands of one element lie in unlike banks; arithmetic and not the banks limits the units; the rows
/// that they open make others open theirs again.
/// \throws InfeasibleError when there are no units; std::invalid_argument when these cannot compute it
TimedKernel in_memory(const VectorShape& shape, const HbmSpec& hbm);

}}  // namespace c3::gpu
