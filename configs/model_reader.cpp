#include "configs/model_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <span>
#include <utility>

#include "configs/fields/model_fields.hpp"
#include "workloads/models/transformer.hpp"
#include "workloads/training/tensor_parallel.hpp"

namespace c3::inline configs {
namespace {

ExpertDimensions read_experts(Section section, std::int64_t layers) {
  ExpertDimensions experts;
  read_fields(section, experts, kExpertFields);
  if (layers % experts.interval != 0)
    section.fail("interval", fmt::format("must divide layers, which is {}", layers));
  section.finish();
  return experts;
}

}  // namespace

ModelDimensions read_model(Section& section) {
  ModelDimensions model{.name = section.preset_name()};
  read_fields(section, model, kModelFields);
  const bool has_experts = section.has("experts");
  section.explain("experts", "a mixture of experts in place of feed-forward layers; default: none");
  if (has_experts) model.experts = read_experts(section.table("experts"), model.layers);
  if (model.own_head_dim == 0 && model.hidden % model.heads != 0) {
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
  const parts::Projection& product = *find_product(layer, *part);
  return WeightShape{std::accumulate(product.outputs.begin(), product.outputs.end(), std::int64_t{0}),
                     product.inputs};
}

}  // namespace c3::configs
