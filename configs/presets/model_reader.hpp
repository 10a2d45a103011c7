#pragma once
/// Reads the dimensions of a transformer, and which GEMMs of a layer follow from them.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "configs/toml/section.hpp"
#include "workloads/models/model_dimensions.hpp"

namespace c3 { inline namespace configs {

/// Reads and finishes \p section.
ModelDimensions read_model(Section& section);

/// "attn.qkv", "attn.out", "mlp.gate_up", "mlp.down".
const std::vector<std::string>& layer_operations();

/// [outputs, inputs] of the weight of \p operation, one of layer_operations(), in the first layer; absent for
/// another name. For experts, the weight of one expert.
struct WeightShape {
  std::int64_t outputs = 0;
  std::int64_t inputs = 0;
};
/// Whether GPUs that share its weight have some of the outputs each, and so all inputs; else it is the reverse.
bool by_outputs(std::string_view operation);
std::optional<WeightShape> weight_of(const ModelDimensions& model, std::string_view operation);

}}  // namespace c3::configs
