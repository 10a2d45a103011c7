#pragma once
/// Flash attention: scores stay on chip, keys and values stream by.

#include <string>

#include "gpu/kernel.hpp"
#include "gpu/kernels/attention/attention_shape.hpp"

namespace c3 { inline namespace gpu {

/// Describes \p shape on \p gpu: one work group for each tile of queries of each head of each sequence, that
/// goes through the keys it may see in steps. A (query, key) pair costs a multiplication of head_dim twice
/// (five times backward) at a share of the matrix rate that kernel and pass have, and one exponential on the
/// special-function units, one after the other. Few queries, as of decoding, are packed by the heads that
/// share keys, and the keys split over the CUs. Wrong when: many sequences have few keys, or a query has none
/// but its own (gpu/kernels/README.md); backward, which takes prefill's coefficients but for that share;
/// sequences are so unlike in length that the order of work groups matters. \throws InfeasibleError when an
/// extent is < 1, kv_heads does not divide heads, a causal shape has more queries than keys, the GPU lacks the
/// data type, or the tensors do not fit into its memory.
KernelDescription describe_attention(std::string name, const AttentionShape& shape, const GpuSpec& gpu);

}}  // namespace c3::gpu
