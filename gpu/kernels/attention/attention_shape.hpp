#pragma once
/// Flash attention.

#include <cstdint>

#include "base/enum_names.hpp"
#include "gpu/kernels/operator.hpp"
#include "gpu/spec.hpp"

namespace c3 { inline namespace gpu {

/// Which kernel computes attention.
enum class AttentionKernel : std::uint8_t {
  newest,  ///< the vendor's libraries', with all that a GPU has
  flash2,  ///< FlashAttention-2, without what came with Hopper
  flash1,  ///< the first FlashAttention (2022), of older frameworks
  triton,  ///< the same algorithm as a Triton kernel
  cudnn,   ///< cuDNN's from 9.1 on, which is PyTorch's own choice on Hopper and Blackwell from 2.7 on
};

/// Where the values are.
enum class AttentionValues {
  apart,    ///< a tensor of their own
  in_keys,  ///< the first elements of each key: latent attention in its absorbed form (arXiv 2405.04434, 2.1)
};
constexpr auto enum_names(AttentionValues) {
  return std::to_array<EnumName<AttentionValues>>(
      {{"apart", AttentionValues::apart}, {"in_keys", AttentionValues::in_keys}});
}

/// softmax(Q K^T) V in one kernel that never writes the scores (flash attention), over `batch` sequences.
struct AttentionShape {
  std::int64_t batch = 1;
  std::int64_t heads = 0;     ///< of queries
  std::int64_t kv_heads = 0;  ///< of keys and values; a divisor of `heads`
  std::int64_t queries = 0;   ///< of one sequence
  std::int64_t keys = 0;      ///< of one sequence, cached ones included
  std::int64_t head_dim = 0;
  bool causal = false;  ///< a query sees the keys up to its own place; the last query sees all
  DType dtype = DType::bf16;
  Pass pass = Pass::forward;
  AttentionKernel kernel = AttentionKernel::newest;
  std::int64_t value_dim = 0;                       ///< elements of a head's values and results; 0: head_dim
  AttentionValues values = AttentionValues::apart;  ///< in_keys: value_dim is at most head_dim
  /// A causal query sees so many keys at most, of its own token and those right before it; 0: all before it.
  std::int64_t window = 0;
  /// A causal query sees so many keys at most, which an indexer has chosen one by one for all heads of a key
  /// head (DeepSeek Sparse Attention, arXiv 2512.02556, section 2.1); 0: all before it, by another kernel.
  std::int64_t selected = 0;

  std::int64_t value_width() const { return value_dim > 0 ? value_dim : head_dim; }
  /// Elements of a key and its value in memory.
  std::int64_t key_width() const {
    return values == AttentionValues::in_keys ? head_dim : head_dim + value_width();
  }
  bool operator==(const AttentionShape&) const = default;
};

const OperatorClass& operator_class(const AttentionShape& shape);

/// Multiply-adds of a query with a key, of one head: scores by `head_dim` and results by the values' width.
/// Backward computes scores again, and makes gradients of values and of probabilities by the latter, of queries
/// and keys by the former.
double products_of_pair(const AttentionShape& shape);

/// Pairs of a query and a key that it sees, of one head of one sequence. The last query sees all keys, each one
/// before it one less, and none more than \p most (0: no such bound).
double causal_pairs(std::int64_t queries, std::int64_t keys, std::int64_t most);

/// The same of \p shape.
double visible_pairs(const AttentionShape& shape);

}}  // namespace c3::gpu
