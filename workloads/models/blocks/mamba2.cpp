// Mamba-2 (arXiv 2405.21060), as Nemotron-H has it (megatron/core/ssm/mamba_mixer.py): a state space of one
// decay a head, whose heads share what goes into the state and what is read from it by groups.

#include <fmt/format.h>

#include <array>

#include "workloads/models/blocks/block_kind.hpp"
#include "workloads/models/blocks/scan_parts.hpp"
#include "workloads/models/model_dimensions.hpp"

namespace c3 { inline namespace workloads {
namespace {

constexpr BlockId kBlock = BlockId::state_space;

enum Key : std::uint8_t { heads, head_dim, state, groups, convolution, scan_chunk };

constexpr auto kKeys = std::to_array<BlockKey>({
    {"heads", "heads of values", kMostBlockHeads},
    {"head_dim", "elements of a head's value", kWidestBlock},
    {"state", "numbers of the state for each element of a head", kWidestBlock},
    {"groups", "groups of heads, each with one input and one output matrix of the state", kMostBlockHeads},
    {"convolution", "tokens of the convolution in front of it", 4, 4},
    {"scan_chunk", "tokens of a chunk of its scan", kWidestBlock, 256},
});

// One projection makes gates, values, the state's inputs and outputs, and a step for each head. mamba_ssm's
// memory-efficient path keeps that and what the scan makes, and computes the convolution and the states again.
// The norm is of the gated product, each group for itself.
std::vector<ModelPart> parts_of(const ModelDimensions& model, const BlockSizes& sizes) {
  const std::int64_t inner = sizes[heads] * sizes[head_dim];
  const std::int64_t convolved = inner + 2 * sizes[groups] * sizes[state];
  return {{{kBlock, Role::qkv},
           parts::Projection{
               .inputs = model.hidden, .outputs = {inner + convolved + sizes[heads]}, .output_is_kept = true}},
          {{kBlock, Role::convolution},
           own(SequenceConvolution{.channels = convolved,
                                   .window = sizes[convolution],
                                   .has_bias = true,
                                   .is_kept = false,
                                   .layout = SequenceLayout::channels_first})},
          {{kBlock, Role::scan},
           own(ChunkedScan{.rule = ScanRule::mamba2,
                           .heads = sizes[heads],
                           .key_heads = sizes[groups],
                           .key_dim = sizes[state],
                           .value_dim = sizes[head_dim],
                           .chunk = sizes[scan_chunk],
                           .kept = sizes[head_dim],
                           .head_weights = 3})},
          {{kBlock, Role::output_gate},
           own(GatedNorm{.groups = sizes[groups],
                         .width = inner / sizes[groups],
                         .gates_first = true,
                         .shares_weights = false})},
          {{kBlock, Role::out}, parts::Projection{.inputs = inner, .outputs = {model.hidden}}}};
}

std::vector<DividedCount> divided(const ModelDimensions& /*model*/, const BlockSizes& sizes) {
  return {{"heads", sizes[heads]}, {"groups", sizes[groups]}};
}

std::optional<BlockConflict> conflict(const ModelDimensions& model, const BlockSizes& sizes) {
  if (sizes[heads] % sizes[groups] != 0)
    return BlockConflict{"groups",
                         fmt::format("must divide heads, which is {} (it is {})", sizes[heads], sizes[groups])};
  if (model.structure != Structure::decoder)
    return BlockConflict{"kind", "is \"mamba2\", which is of decoders: its state goes from token to token"};
  return std::nullopt;
}

std::optional<std::string> refused_split(const BlockSizes& /*its*/, const ContextSplit& /*split*/) {
  return "is not supported with state spaces: their state would have to go from rank to rank";
}

BlockCache cache(const ModelDimensions& /*model*/, const BlockSizes& sizes) {
  const std::int64_t inner = sizes[heads] * sizes[head_dim];
  return {.sequence_bytes = kStateBytes * inner * sizes[state] +
                            kKeyBytes * (inner + 2 * sizes[groups] * sizes[state]) * (sizes[convolution] - 1)};
}

}  // namespace

extern constexpr BlockKindEntry kMamba2Block = {.name = "mamba2",
                                                .meaning = "a state space of Mamba-2 (arXiv 2405.21060)",
                                                .block = kBlock,
                                                .keys = kKeys,
                                                .parts = parts_of,
                                                .divided = divided,
                                                .conflict = conflict,
                                                .refused_split = refused_split,
                                                .cache = cache};

}}  // namespace c3::workloads
