#pragma once
/// Dimensions of a transformer model and the GEMMs that follow from them.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "configs/section.hpp"
#include "workloads/experiment.hpp"

namespace c3 {

/// One decoder-only transformer with dense feed-forward layers.
struct ModelDimensions {
  std::string name;
  std::int64_t hidden = 0;
  std::int64_t ffn = 0;  ///< width of the feed-forward layer
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;  ///< < heads with grouped-query attention
  std::int64_t layers = 0;
  bool gated = false;  ///< gate and up projections, computed by one GEMM of twice the width

  std::int64_t head_dim() const { return hidden / heads; }
};

/// Reads and finishes \p section.
ModelDimensions read_model(Section& section);

/// "attn.qkv", "attn.out", "mlp.gate_up", "mlp.down".
const std::vector<std::string>& layer_operations();

/// [outputs, inputs] of the weight of \p operation, one of layer_operations(); absent for another name.
struct WeightShape {
  std::int64_t outputs = 0;
  std::int64_t inputs = 0;
};
std::optional<WeightShape> weight_of(const ModelDimensions& model, std::string_view operation);

}  // namespace c3
