// Attention of queries, keys and values of each token: to all tokens before it, to a window or within a chunk.

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "workloads/models/blocks/attention_block.hpp"
#include "workloads/models/blocks/block_kind.hpp"
#include "workloads/models/blocks/output_gate.hpp"
#include "workloads/models/model_dimensions.hpp"
#include "workloads/models/parts.hpp"

namespace c3 { inline namespace workloads {
namespace {

enum Key : std::uint8_t { heads, kv_heads, head_dim, window, chunk, rotates, gated_output, values_are_keys };

constexpr auto kKeys = std::to_array<BlockKey>({
    {"heads", "query heads; default: the model's", kMostBlockHeads, 0},
    {"kv_heads", "key and value heads; default: the model's", kMostBlockHeads, 0},
    {"head_dim", "elements of a head; default: the model's", kWidestBlock, 0},
    {"window", "tokens that one sees, its own and those right before it; default: all before it",
     kMostBlockTokens, 0},
    {"chunk", "tokens among which attention stays, as in Llama 4; default: a whole sequence", kMostBlockTokens,
     0},
    {"rotates", "whether queries and keys are rotated by their positions, where the model's are", 1, 1, true},
    {"gated_output", "whether a gate of each element of the output is made with the queries (Qwen3.5)", 1, 0,
     true},
    {"values_are_keys", "whether values are made by the projection of keys (Gemma 4)", 1, 0, true},
});

/// Sizes with the model's where a block has none of its own.
struct Sizes {
  std::int64_t heads, kv_heads, head_dim;

  Sizes(const ModelDimensions& model, const BlockSizes& block)
      : heads(block[Key::heads] > 0 ? block[Key::heads] : model.heads),
        kv_heads(block[Key::kv_heads] > 0 ? block[Key::kv_heads] : model.kv_heads),
        head_dim(block[Key::head_dim] > 0 ? block[Key::head_dim] : model.head_dim()) {}
};

std::vector<ModelPart> parts_of(const ModelDimensions& model, const BlockSizes& block) {
  const Sizes sizes(model, block);
  return attention_parts(model, {.block = BlockId::self_attention,
                                 .heads = sizes.heads,
                                 .kv_heads = sizes.kv_heads,
                                 .head_dim = sizes.head_dim,
                                 .is_causal = model.structure != Structure::encoder,
                                 .window = block[window],
                                 .chunk = block[chunk],
                                 .rotates = block[rotates] != 0,
                                 .gated_output = block[gated_output] != 0,
                                 .values_are_keys = block[values_are_keys] != 0});
}

std::vector<DividedCount> divided(const ModelDimensions& model, const BlockSizes& block) {
  const Sizes sizes(model, block);
  return {{"heads", sizes.heads}, {"kv_heads", sizes.kv_heads}};
}

std::optional<BlockConflict> conflict(const ModelDimensions& model, const BlockSizes& block) {
  const Sizes sizes(model, block);
  if (sizes.heads % sizes.kv_heads != 0)
    return BlockConflict{
        block[kv_heads] > 0 ? "kv_heads" : "heads",
        fmt::format("{} heads of keys do not divide {} heads of queries", sizes.kv_heads, sizes.heads)};
  if (block[window] > 0 && block[chunk] > 0)
    return BlockConflict{"chunk", "a token sees a window or the tokens of its chunk, not both"};
  if ((block[window] > 0 || block[chunk] > 0) && model.structure == Structure::encoder)
    return BlockConflict{block[window] > 0 ? "window" : "chunk",
                         "requires a decoder, whose tokens see those before them"};
  return std::nullopt;
}

// TransformerEngine has windows with gathers and all-to-alls (pytorch/attention/dot_product_attention/
// context_parallel.py @015d2257, attn_forward_func_with_cp); chunks would be cut by ranks' pieces.
std::optional<std::string> refused_split(const BlockSizes& block, const ContextSplit& split) {
  const bool keeps_sequences = split.key_ranks() == 1;
  if (block[chunk] > 0 && !keeps_sequences)
    return "with attention within chunks requires context_exchange = \"ulysses\", where each rank has whole "
           "sequences of some heads";
  if (block[window] > 0 && !keeps_sequences && split.exchange != ContextExchange::gather)
    return fmt::format(
        "with attention to windows requires context_exchange = \"gather\" or \"ulysses\" (it is \"{}\"): "
        "TransformerEngine has no ring for them",
        name_of(split.exchange));
  return std::nullopt;
}

BlockCache cache(const ModelDimensions& model, const BlockSizes& block) {
  const Sizes sizes(model, block);
  return {.token_bytes = kKeyBytes * 2 * sizes.kv_heads * sizes.head_dim,
          .most_tokens = std::max(block[window], block[chunk])};
}

}  // namespace

std::vector<ModelPart> attention_parts(const ModelDimensions& model, const AttentionBlock& attention) {
  const BlockId at = attention.block;
  const std::int64_t width = attention.heads * attention.head_dim,
                     kv_width = attention.kv_heads * attention.head_dim;
  const bool is_crossed = at == BlockId::cross_attention;
  const bool rotates = attention.rotates && model.has_rotation() && !is_crossed;
  const bool has_bias = model.biases && !model.position_keys;
  std::vector<std::int64_t> outputs = {attention.gated_output ? 2 * width : width, kv_width};
  if (!attention.values_are_keys) outputs.push_back(kv_width);
  std::vector<ModelPart> parts = {{{at, Role::qkv},
                                   parts::Projection{.inputs = model.hidden,
                                                     .outputs = std::move(outputs),
                                                     .has_bias = has_bias,
                                                     .is_crossed = is_crossed,
                                                     .output_is_kept = !rotates}}};
  if (model.head_norm)
    parts.push_back({{at, Role::head_norm},
                     parts::HeadNorm{model.norm, attention.heads, attention.kv_heads, attention.head_dim}});
  if (rotates)
    parts.push_back(
        {{at, Role::rope}, parts::Rotation{attention.heads, attention.kv_heads, attention.head_dim}});
  parts.push_back({{at, Role::attention},
                   parts::Attention{.heads = attention.heads,
                                    .kv_heads = attention.kv_heads,
                                    .head_dim = attention.head_dim,
                                    .is_causal = attention.is_causal,
                                    .is_biased = model.relative_buckets > 0,
                                    .has_sinks = model.attention_sinks,
                                    .position_inputs = model.position_keys ? model.hidden : 0,
                                    .window = attention.window,
                                    .chunk = attention.chunk}});
  if (attention.gated_output) parts.push_back({{at, Role::output_gate}, output_gate(width)});
  parts.push_back(
      {{at, Role::out}, parts::Projection{.inputs = width, .outputs = {model.hidden}, .has_bias = has_bias}});
  return parts;
}

extern constexpr BlockKindEntry kAttentionBlock = {
    .name = "attention",
    .meaning = "queries, keys and values of each token, whose heads, window or chunk may be a block's own",
    .block = BlockId::self_attention,
    .keys = kKeys,
    .parts = parts_of,
    .divided = divided,
    .conflict = conflict,
    .refused_split = refused_split,
    .cache = cache};

}}  // namespace c3::workloads
