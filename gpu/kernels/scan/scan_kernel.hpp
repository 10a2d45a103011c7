#pragma once
/// Kernels of chunked recurrences.

#include <string>

#include "gpu/kernel.hpp"
#include "gpu/kernels/scan/scan_shape.hpp"

namespace c3 { inline namespace gpu {

/// Describes \p shape on \p gpu by the counts of scan_work.hpp.
///
/// A work group takes the sum of its matrix products at `matrix_share` of the peak, its exponentials at 16 a
/// clock and CU, and its other instructions, which is a CU's time however many work groups it holds. However
/// few they are, each takes at least: two loads that say where its sequence lies; the rows of a substitution,
/// `row_cycles` each; and of kernels that go through the chunks in turn, for each chunk as many latencies of
/// HBM as products wait for one another. Every tensor crosses HBM once, but for what the caches hold from the
/// kernel before; heads that share a key and blocks of values that share an operand load it from L2.
///
/// Wrong when: a library's tuner takes another tile than most (the same kernel of flash-linear-attention runs
/// at rates 1.6 times apart on an H100, by numbers of heads); sequences of a batch differ in length.
/// \throws InfeasibleError when an extent is < 1, key_heads does not divide heads, the rule has no such kernel
/// in that pass, the GPU lacks the type, or the tensors do not fit into its memory.
KernelDescription describe_scan(std::string name, const ScanShape& shape, const GpuSpec& gpu);

}}  // namespace c3::gpu
