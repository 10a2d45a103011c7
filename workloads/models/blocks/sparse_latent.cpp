// Latent attention to tokens that an indexer chooses (DeepSeek-V3.2, GLM-5): arXiv 2512.02556, section 2.1.

#include <fmt/format.h>

#include <array>

#include "workloads/models/blocks/block_kind.hpp"
#include "workloads/models/blocks/latent_block.hpp"
#include "workloads/models/blocks/sparse_parts.hpp"
#include "workloads/models/model_dimensions.hpp"
#include "workloads/models/parts.hpp"

namespace c3 { inline namespace workloads {
namespace {

constexpr BlockId kBlock = BlockId::self_attention;

enum Key : std::uint8_t { index_heads, index_dim, selected, has_indexer };

constexpr auto kKeys = std::to_array<BlockKey>({
    {"index_heads", "heads of the indexer", kMostBlockHeads},
    {"index_dim", "elements of the indexer's keys", kWidestBlock},
    {"selected", "tokens that one attends to", kMostBlockTokens},
    {"has_indexer",
     "whether the block chooses tokens itself; else it takes the choice of a block before it (GLM-5)", 1, 1,
     true},
});

std::vector<ModelPart> parts_of(const ModelDimensions& model, const BlockSizes& sizes) {
  const LatentDimensions& latent = *model.latent;
  std::vector<ModelPart> parts = latent_queries(model);
  if (sizes[has_indexer] != 0)
    parts.push_back({{kBlock, Role::index},
                     own(Indexer{.heads = sizes[index_heads],
                                 .dim = sizes[index_dim],
                                 .rotated_dim = latent.rotated_dim,
                                 .selected = sizes[selected],
                                 .inputs = model.hidden,
                                 .query_inputs = latent.query_rank,
                                 .attention_heads = model.heads,
                                 .attention_width = latent.kv_rank + latent.rotated_dim})});
  parts.push_back(
      {{kBlock, Role::expand_kv}, own(AbsorbedQueries{model.heads, latent.plain_dim, latent.kv_rank})});
  parts.push_back(
      {{kBlock, Role::rope}, own(SharedKeyRotation{model.heads, latent.kv_rank, latent.rotated_dim})});
  parts.push_back({{kBlock, Role::attention},
                   own(SelectedAttention{model.heads, latent.kv_rank, latent.rotated_dim, sizes[selected]})});
  parts.push_back({{kBlock, Role::values}, own(LatentValues{model.heads, latent.kv_rank, latent.value_dim})});
  parts.push_back(latent_output(model));
  return parts;
}

std::optional<BlockConflict> conflict(const ModelDimensions& model, const BlockSizes& sizes) {
  if (!model.latent)
    return BlockConflict{"kind", "is \"sparse_latent\", which requires the table [model.latent]"};
  if (model.latent->query_rank == 0)
    return BlockConflict{"kind", "is \"sparse_latent\", whose indexer requires model.latent.query_rank"};
  if (sizes[index_dim] < model.latent->rotated_dim)
    return BlockConflict{"index_dim",
                         fmt::format("must be at least model.latent.rotated_dim, which is {} (it is {})",
                                     model.latent->rotated_dim, sizes[index_dim])};
  return std::nullopt;
}

// The indexer's keys are in 8 bits, each of them with a scale (DeepSeek-V3.2-Exp inference/model.py).
BlockCache cache(const ModelDimensions& model, const BlockSizes& sizes) {
  constexpr std::int64_t kScaleBytes = 4;
  BlockCache kept = latent_cache(model, sizes);
  if (sizes[has_indexer] != 0) kept.token_bytes += sizes[index_dim] + kScaleBytes;
  return kept;
}

}  // namespace

extern constexpr BlockKindEntry kSparseLatentBlock = {
    .name = "sparse_latent",
    .meaning =
        "latent attention of the sizes of [model.latent] to tokens that an indexer chooses (arXiv 2512.02556)",
    .block = kBlock,
    .keys = kKeys,
    .parts = parts_of,
    .divided = divided_heads,
    .conflict = conflict,
    .refused_split = refused_latent_split,
    .cache = cache};

}}  // namespace c3::workloads
