#include "configs/model_reader.hpp"

#include <fmt/format.h>

namespace c3 {

ModelDimensions read_model(Section& section) {
  constexpr std::int64_t kWidest = 1'048'576;
  ModelDimensions model{.name = section.slug("name"),
                        .hidden = section.integer("hidden", 1, kWidest),
                        .ffn = section.integer("ffn", 1, kWidest),
                        .heads = section.integer("heads", 1, 4096),
                        .kv_heads = section.integer("kv_heads", 1, 4096),
                        .layers = section.integer("layers", 1, 4096),
                        .gated = section.flag("gated")};
  if (model.hidden % model.heads != 0) {
    section.fail("heads", fmt::format("must divide hidden, which is {}", model.hidden));
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
