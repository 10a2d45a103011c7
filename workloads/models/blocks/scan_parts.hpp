#pragma once
/// The parts that blocks of linear attention and of state spaces have in common: a convolution along the
/// sequence, a recurrence over its tokens in chunks, and a gated norm of what comes out.

#include <cstdint>

#include "gpu/kernels/scan/causal_conv.hpp"
#include "gpu/kernels/scan/scan_shape.hpp"
#include "workloads/models/parts.hpp"

namespace c3 { inline namespace workloads {

/// A convolution of each channel by itself, with SiLU behind it. Its input is the projection's output, which
/// the projection keeps.
struct SequenceConvolution {
  std::int64_t channels = 0;
  std::int64_t window = 4;  ///< tokens
  bool has_bias = false;
  bool is_kept = true;  ///< its output; else the backward pass computes it again
  SequenceLayout layout = SequenceLayout::channels_last;
};

/// Sizes of a recurrence, as ScanShape has them.
struct ChunkedScan {
  ScanRule rule = ScanRule::gated_delta;
  std::int64_t heads = 0;
  std::int64_t key_heads = 0;
  std::int64_t key_dim = 0;
  std::int64_t value_dim = 0;
  std::int64_t chunk = 0;
  std::int64_t kept = 0;  ///< numbers of a token and head that stay for the backward pass, output included
  bool has_gates =
      false;  ///< of each token and head, which a kernel before it makes of numbers of a projection
  bool repeats_keys = false;      ///< queries and keys are copied for each head of values before it
  std::int64_t head_weights = 0;  ///< weights of each head, such as its decay, a tensor each
};

/// A norm of each head's (or group's) output and its product with SiLU of a gate that a projection keeps.
struct GatedNorm {
  std::int64_t groups = 0;     ///< of a token, which are normed apart
  std::int64_t width = 0;      ///< of a group
  bool gates_first = false;    ///< the norm is of the product
  bool shares_weights = true;  ///< one weight for each place in a group; else one for each number of a token
};

parts::Own own(const SequenceConvolution& part);
parts::Own own(const ChunkedScan& part);
parts::Own own(const GatedNorm& part);

}}  // namespace c3::workloads
