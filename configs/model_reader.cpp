#include "configs/model_reader.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace c3 {
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
  ModelDimensions model{.name = section.slug("name"),
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

const std::vector<std::string>& layer_operations() {
  static const std::vector<std::string> kNames = {"attn.qkv", "attn.out", "mlp.gate_up", "mlp.down"};
  return kNames;
}

bool by_outputs(std::string_view operation) { return operation == "attn.qkv" || operation == "mlp.gate_up"; }

std::optional<WeightShape> weight_of(const ModelDimensions& model, std::string_view operation) {
  if (operation == "attn.qkv") {
    return WeightShape{(model.heads + 2 * model.kv_heads) * model.head_dim(), model.hidden};
  }
  if (operation == "attn.out") return WeightShape{model.hidden, model.heads * model.head_dim()};
  if (operation == "mlp.gate_up") return WeightShape{(model.gated ? 2 : 1) * model.ffn, model.hidden};
  if (operation == "mlp.down") return WeightShape{model.hidden, model.ffn};
  return std::nullopt;
}

}  // namespace c3
