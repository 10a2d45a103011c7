#include "configs/presets/model_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <span>
#include <utility>

#include "configs/fields/model_fields.hpp"
#include "workloads/models/transformer.hpp"
#include "workloads/training/tensor_parallel.hpp"

namespace c3 { inline namespace configs {
namespace {

void check(Section& section, const ExpertDimensions& experts, std::int64_t layers) {
  if (layers % experts.interval != 0)
    section.fail("interval", fmt::format("must divide layers, which is {}", layers));
  if (experts.per_token > experts.experts)
    section.fail("per_token",
                 fmt::format("must not exceed the {} experts (it is {})", experts.experts, experts.per_token));
  if (experts.dense_layers >= layers)
    section.fail("dense_layers",
                 fmt::format("must be below the model's {} layers (it is {})", layers, experts.dense_layers));
  if (experts.experts % experts.groups != 0)
    section.fail("groups",
                 fmt::format("must divide count, which is {} (it is {})", experts.experts, experts.groups));
  if (experts.groups_per_token > experts.groups)
    section.fail("groups_per_token", fmt::format("must not exceed groups, which is {} (it is {})",
                                                 experts.groups, experts.groups_per_token));
}

ExpertDimensions read_experts(Section section, std::int64_t layers) {
  ExpertDimensions experts;
  read_fields(section, experts, kExpertFields);
  if (!section.is_rehearsal()) check(section, experts, layers);  // whose examples need not fit together
  section.finish();
  return experts;
}

LatentDimensions read_latent(Section section) {
  LatentDimensions latent;
  read_fields(section, latent, kLatentFields);
  section.finish();
  return latent;
}

}  // namespace

ModelDimensions read_model(Section& section) {
  ModelDimensions model{.name = section.preset_name()};
  read_fields(section, model, kModelFields);
  const bool has_experts = section.has("experts");
  section.explain("experts", "a mixture of experts in place of feed-forward layers; default: none");
  if (has_experts) model.experts = read_experts(section.table("experts"), model.layers);
  const bool has_latent = section.has("latent");
  section.explain("latent", "attention whose queries, keys and values come from short vectors (MLA)");
  if (has_latent) model.latent = read_latent(section.table("latent"));
  if (model.own_head_dim == 0 && !model.latent && model.hidden % model.heads != 0) {
    section.fail("heads", fmt::format("must divide hidden, which is {}, or head_dim be given", model.hidden));
  }
  if (model.heads % model.kv_heads != 0) {
    section.fail("kv_heads", fmt::format("must divide heads, which is {}", model.heads));
  }
  section.finish();
  return model;
}

namespace {

/// Products of a layer that an experiment can name.
constexpr std::array kProducts = {
    PartId{BlockId::self_attention, Role::qkv}, PartId{BlockId::self_attention, Role::out},
    PartId{BlockId::feed_forward, Role::gate_up}, PartId{BlockId::feed_forward, Role::down}};

const PartId* product_named(std::string_view operation) {
  const auto* const found = std::ranges::find(kProducts, operation, [](PartId part) { return name_of(part); });
  return found == kProducts.end() ? nullptr : found;
}

/// Also of one expert; nullptr where \p parts have no such product.
const parts::Projection* find_product(std::span<const ModelPart> parts, PartId id) {
  for (const ModelPart& part : parts) {
    if (const auto* const experts = std::get_if<parts::Experts>(&part.kind)) {
      if (const parts::Projection* const found = find_product(experts->each, id)) return found;
    }
    if (part.id == id) return std::get_if<parts::Projection>(&part.kind);
  }
  return nullptr;
}

}  // namespace

const std::vector<std::string>& layer_operations() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names;
    for (const PartId part : kProducts)
      names.push_back(name_of(part));
    return names;
  }();
  return kNames;
}

bool by_outputs(std::string_view operation) {
  const PartId* const part = product_named(operation);
  return part != nullptr && splits_outputs(*part);
}

std::optional<WeightShape> weight_of(const ModelDimensions& model, std::string_view operation) {
  const PartId* const part = product_named(operation);
  if (part == nullptr) return std::nullopt;
  const std::vector<ModelPart> layer = layer_of(transformer(model).stacks.front(), 0);
  const parts::Projection* const product = find_product(layer, *part);
  if (product == nullptr) return std::nullopt;  // latent attention has others
  return WeightShape{std::accumulate(product->outputs.begin(), product->outputs.end(), std::int64_t{0}),
                     product->inputs};
}

}}  // namespace c3::configs
