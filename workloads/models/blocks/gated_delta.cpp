// Gated delta rule (arXiv 2412.06464), as Qwen3-Next and Qwen3.5 have it in most layers: linear attention whose
// state forgets by a gate and is corrected by what a key finds in it.

#include <fmt/format.h>

#include <array>

#include "workloads/models/blocks/block_kind.hpp"
#include "workloads/models/blocks/scan_parts.hpp"
#include "workloads/models/model_dimensions.hpp"

namespace c3 { inline namespace workloads {
namespace {

constexpr BlockId kBlock = BlockId::linear_attention;

enum Key : std::uint8_t { key_heads, key_dim, value_heads, value_dim, convolution };

constexpr auto kKeys = std::to_array<BlockKey>({
    {"key_heads", "heads of queries and keys", kMostBlockHeads},
    {"key_dim", "elements of a head's query or key", kWidestBlock},
    {"value_heads", "heads of values, a multiple of key_heads", kMostBlockHeads},
    {"value_dim", "elements of a head's value", kWidestBlock},
    {"convolution", "tokens of the convolution in front of it", 4, 4},
});

/// Kept of a token and head in its type: key, value, what comes out, and the row of its chunk's inverse.
/// Queries and keys are kept as they are normed, values as the convolution leaves them.
std::int64_t kept_of_head(const BlockSizes& sizes) {
  return 2 * sizes[key_dim] + sizes[value_dim] + usual_chunk(ScanRule::gated_delta);
}

// One projection makes queries and keys, values, the gates of the output, and two numbers for each head of
// values: how much of the state is corrected, and how much it forgets. Four in the code of Qwen3.5
// (transformers, qwen3_5: in_proj_qkv, in_proj_z, in_proj_b, in_proj_a).
std::vector<ModelPart> parts_of(const ModelDimensions& model, const BlockSizes& sizes) {
  const std::int64_t keys = sizes[key_heads] * sizes[key_dim], values = sizes[value_heads] * sizes[value_dim];
  return {
      {{kBlock, Role::qkv},
       parts::Projection{.inputs = model.hidden,
                         .outputs = {2 * keys + values, values, sizes[value_heads], sizes[value_heads]},
                         .output_is_kept = true}},
      {{kBlock, Role::convolution},
       own(SequenceConvolution{.channels = 2 * keys + values, .window = sizes[convolution]})},
      {{kBlock, Role::scan},
       own(ChunkedScan{.rule = ScanRule::gated_delta,
                       .heads = sizes[value_heads],
                       .key_heads = sizes[key_heads],
                       .key_dim = sizes[key_dim],
                       .value_dim = sizes[value_dim],
                       .chunk = usual_chunk(ScanRule::gated_delta),
                       .kept = kept_of_head(sizes),
                       .has_gates = true,
                       .repeats_keys = true,
                       .head_weights = 2})},
      {{kBlock, Role::output_gate}, own(GatedNorm{.groups = sizes[value_heads], .width = sizes[value_dim]})},
      {{kBlock, Role::out}, parts::Projection{.inputs = values, .outputs = {model.hidden}}}};
}

std::vector<DividedCount> divided(const ModelDimensions& /*model*/, const BlockSizes& sizes) {
  return {{"key_heads", sizes[key_heads]}, {"value_heads", sizes[value_heads]}};
}

std::optional<BlockConflict> conflict(const ModelDimensions& model, const BlockSizes& sizes) {
  if (sizes[value_heads] % sizes[key_heads] != 0)
    return BlockConflict{"value_heads", fmt::format("must be a multiple of key_heads, which is {} (it is {})",
                                                    sizes[key_heads], sizes[value_heads])};
  if (model.structure != Structure::decoder)
    return BlockConflict{"kind",
                         "is \"gated_delta\", which is of decoders: its state goes from token to token"};
  return std::nullopt;
}

std::optional<std::string> refused_split(const BlockSizes& /*its*/, const ContextSplit& /*split*/) {
  return "is not supported with linear attention: its state would have to go from rank to rank";
}

BlockCache cache(const ModelDimensions& /*model*/, const BlockSizes& sizes) {
  const std::int64_t keys = sizes[key_heads] * sizes[key_dim], values = sizes[value_heads] * sizes[value_dim];
  return {.sequence_bytes = kStateBytes * values * sizes[key_dim] +
                            kKeyBytes * (2 * keys + values) * (sizes[convolution] - 1)};
}

}  // namespace

extern constexpr BlockKindEntry kGatedDeltaBlock = {
    .name = "gated_delta",
    .meaning = "linear attention by the gated delta rule (arXiv 2412.06464)",
    .block = kBlock,
    .keys = kKeys,
    .parts = parts_of,
    .divided = divided,
    .conflict = conflict,
    .refused_split = refused_split,
    .cache = cache};

}}  // namespace c3::workloads
