#include "configs/model_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <span>
#include <utility>

#include "workloads/models/transformer.hpp"
#include "workloads/training/tensor_parallel.hpp"

namespace c3::inline configs {
namespace {

constexpr std::int64_t kWidest = 1'048'576;
constexpr std::int64_t kMost = 4096;  // heads, layers, experts
constexpr std::int64_t kLongest = 16'777'216;

ExpertDimensions read_experts(Section section, std::int64_t layers) {
  const ExpertDimensions experts{.experts = section.integer("count", 1, kMost),
                                 .capacity = section.integer("capacity", 1, kLongest),
                                 .interval = section.integer("interval", 1, kMost)};
  if (!section.is_rehearsal() && layers % experts.interval != 0) {
    section.fail("interval", fmt::format("must divide layers, which is {}", layers));
  }
  section.finish();
  return experts;
}

/// What only a list of all operators needs.
void read_parts(Section& section, ModelDimensions& model) {
  const auto table_rows = [&](std::string_view key) {
    return section.has(key) ? section.integer(key, 1, kLongest) : 0;
  };
  model.vocabulary = table_rows("vocabulary");
  model.positions = table_rows("positions");
  model.token_types = table_rows("token_types");
  model.relative_buckets = table_rows("relative_buckets");
  if (section.has("structure")) model.structure = section.choice<Structure>("structure");
  if (section.has("norm")) model.norm = section.choice<Norm>("norm");
  if (section.has("norm_after")) model.norm_after = section.flag("norm_after");
  if (section.has("biases")) model.biases = section.flag("biases");
  if (section.has("tied_embedding")) model.tied_embedding = section.flag("tied_embedding");
  if (section.has("activation")) model.activation = section.choice<Activation>("activation");
  if (section.has("family")) model.family = section.choice<EagerFamily>("family");
  if (section.has("experts")) model.experts = read_experts(section.table("experts"), model.layers);
}

}  // namespace

ModelDimensions read_model(Section& section) {
  ModelDimensions model{.name = section.preset_name(),
                        .hidden = section.integer("hidden", 1, kWidest),
                        .ffn = section.integer("ffn", 1, kWidest),
                        .heads = section.integer("heads", 1, kMost),
                        .kv_heads = section.integer("kv_heads", 1, kMost),
                        .layers = section.integer("layers", 1, kMost),
                        .gated = section.flag("gated")};
  if (section.has("head_dim")) model.own_head_dim = section.integer("head_dim", 1, kWidest);
  read_parts(section, model);
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
