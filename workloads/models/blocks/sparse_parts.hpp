#pragma once
/// The parts of latent attention to keys that an indexer chooses (DeepSeek Sparse Attention, arXiv 2512.02556,
/// section 2.1), in the form in which all heads share the latent vector of a token as key and value.

#include <cstdint>

#include "workloads/models/parts.hpp"

namespace c3 { inline namespace workloads {

/// Makes a score of each token with each token before it, and chooses the best. Its input passes no gradient
/// back: its weights learn from attention's probabilities alone (section 2.1.1). Scores are made in fp8 where a
/// step has a recipe of low precision, else in the type of activations; its projections run in that type. Wrong
/// when: ranks that share heads sum up what their heads attend to, which is not sent here.
struct Indexer {
  std::int64_t heads = 0;
  std::int64_t dim = 0;          ///< elements of its keys
  std::int64_t rotated_dim = 0;  ///< of those
  std::int64_t selected = 0;
  std::int64_t inputs = 0;           ///< of a token, from which keys and weights of heads are made
  std::int64_t query_inputs = 0;     ///< the latent vector of queries
  std::int64_t attention_heads = 0;  ///< from which it learns
  std::int64_t attention_width = 0;  ///< of their shared key
};

/// Queries brought into the space of latent vectors, head by head, instead of keys out of it.
struct AbsorbedQueries {
  std::int64_t heads = 0;
  std::int64_t plain_dim = 0;
  std::int64_t kv_rank = 0;
};

/// RoPE of the rotated part of queries and of the one key; queries are put together of both of their parts.
struct SharedKeyRotation {
  std::int64_t heads = 0;
  std::int64_t kv_rank = 0;
  std::int64_t rotated_dim = 0;
};

/// Attention to the keys that an indexer has chosen.
struct SelectedAttention {
  std::int64_t heads = 0;
  std::int64_t kv_rank = 0;
  std::int64_t rotated_dim = 0;
  std::int64_t selected = 0;
};

/// Values brought out of the space of latent vectors, head by head.
struct LatentValues {
  std::int64_t heads = 0;
  std::int64_t kv_rank = 0;
  std::int64_t value_dim = 0;
};

parts::Own own(const Indexer& part);
parts::Own own(const AbsorbedQueries& part);
parts::Own own(const SharedKeyRotation& part);
parts::Own own(const SelectedAttention& part);
parts::Own own(const LatentValues& part);

}}  // namespace c3::workloads
