// Multi-head latent attention (arXiv 2405.04434, section 2.1), whose sizes are the model's.

#include "workloads/models/blocks/block_kind.hpp"
#include "workloads/models/blocks/latent_block.hpp"
#include "workloads/models/model_dimensions.hpp"
#include "workloads/models/parts.hpp"

namespace c3 { inline namespace workloads {
namespace {

constexpr BlockId kBlock = BlockId::self_attention;

ModelPart projection(const ModelDimensions& model, Role role, std::int64_t inputs, std::int64_t outputs) {
  return {{kBlock, role}, parts::Projection{.inputs = inputs, .outputs = {outputs}, .has_bias = model.biases}};
}

std::vector<ModelPart> parts_of(const ModelDimensions& model, const BlockSizes& /*sizes*/) {
  const LatentDimensions& latent = *model.latent;
  std::vector<ModelPart> parts = latent_queries(model);
  parts.push_back(
      projection(model, Role::expand_kv, latent.kv_rank, model.heads * (latent.plain_dim + latent.value_dim)));
  parts.push_back({{kBlock, Role::rope},
                   parts::LatentRotation{model.heads, latent.plain_dim, latent.rotated_dim, latent.value_dim}});
  parts.push_back({{kBlock, Role::attention},
                   parts::Attention{.heads = model.heads,
                                    .kv_heads = model.heads,
                                    .head_dim = model.head_dim(),
                                    .is_causal = true,
                                    .value_dim = latent.value_dim}});
  parts.push_back(latent_output(model));
  return parts;
}

std::optional<BlockConflict> conflict(const ModelDimensions& model, const BlockSizes& /*sizes*/) {
  if (model.latent) return std::nullopt;
  return BlockConflict{"kind", "is \"latent\", which requires the table [model.latent]"};
}

}  // namespace

// What the products before a norm make is kept by that. A norm stands before the projection that reads it.
std::vector<ModelPart> latent_queries(const ModelDimensions& model) {
  const LatentDimensions& latent = *model.latent;
  const auto norm = [&](std::int64_t width) {
    return ModelPart{{kBlock, Role::latent_norm},
                     parts::Norm{.formula = model.norm, .width = width, .is_of_sum = false}};
  };
  const std::int64_t rank = latent.query_rank;
  std::vector<ModelPart> parts;
  if (rank > 0) parts.push_back(projection(model, Role::compress, model.hidden, rank));
  parts.push_back(projection(model, Role::compress, model.hidden, latent.kv_rank + latent.rotated_dim));
  parts.push_back(norm(latent.kv_rank));
  if (rank > 0) parts.push_back(norm(rank));
  parts.push_back(projection(model, Role::expand, rank > 0 ? rank : model.hidden, model.attention_width()));
  return parts;
}

ModelPart latent_output(const ModelDimensions& model) {
  return projection(model, Role::out, model.heads * model.latent->value_dim, model.hidden);
}

std::vector<DividedCount> divided_heads(const ModelDimensions& model, const BlockSizes& /*sizes*/) {
  return {{"heads", model.heads}, {"kv_heads", model.kv_heads}};
}

BlockCache latent_cache(const ModelDimensions& model, const BlockSizes& /*sizes*/) {
  return {.token_bytes = kKeyBytes * (model.latent->kv_rank + model.latent->rotated_dim)};
}

std::optional<std::string> refused_latent_split(const BlockSizes& /*sizes*/, const ContextSplit& /*split*/) {
  return "is not supported with latent attention (model.latent)";
}

extern constexpr BlockKindEntry kLatentBlock = {.name = "latent",
                                                .meaning = "latent attention of the sizes of [model.latent]",
                                                .block = kBlock,
                                                .parts = parts_of,
                                                .divided = divided_heads,
                                                .conflict = conflict,
                                                .refused_split = refused_latent_split,
                                                .cache = latent_cache};

}}  // namespace c3::workloads
