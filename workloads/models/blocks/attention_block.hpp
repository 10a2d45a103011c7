#pragma once
/// Attention as blocks of models have it, of themselves or of what an encoder makes.

#include <cstdint>
#include <vector>

#include "workloads/models/parts.hpp"

namespace c3 { inline namespace workloads {

struct ModelDimensions;

/// A block of attention, whoever's sizes these are.
struct AttentionBlock {
  BlockId block = BlockId::self_attention;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  bool is_causal = true;
  std::int64_t window = 0;  ///< 0: none
  std::int64_t chunk = 0;   ///< 0: none
  bool rotates = true;      ///< where the model's positions are rotations
  bool gated_output = false;
  bool values_are_keys = false;
};

/// The parts between the block's norm and its residual sum, with what all attention of \p model has: biases,
/// norms of heads, sinks, keys of positions.
std::vector<ModelPart> attention_parts(const ModelDimensions& model, const AttentionBlock& attention);

}}  // namespace c3::workloads
