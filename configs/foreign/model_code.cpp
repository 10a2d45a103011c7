#include "configs/foreign/model_code.hpp"

#include <algorithm>
#include <array>

namespace c3 { inline namespace configs {
namespace {

constexpr std::array kCodes = {
    ModelCode{.type = "llama", .source = "llama"},
    ModelCode{.type = "mistral", .source = "mistral"},
    ModelCode{.type = "mixtral", .source = "mixtral"},
    ModelCode{.type = "phi3", .source = "phi3"},
    ModelCode{.type = "granite", .source = "granite"},
    ModelCode{.type = "mimo", .source = "modeling_mimo.py, of the model", .asks_for_windows = true},
    ModelCode{.type = "qwen2", .source = "qwen2", .asks_for_windows = true},
    ModelCode{.type = "qwen2_moe", .source = "qwen2_moe", .asks_for_windows = true},
    ModelCode{.type = "qwen3", .source = "qwen3", .head_norm = true, .asks_for_windows = true},
    ModelCode{.type = "qwen3_moe", .source = "qwen3_moe", .head_norm = true, .asks_for_windows = true},
    ModelCode{.type = "qwen3_next", .source = "qwen3_next", .head_norm = true, .asks_for_windows = true},
    ModelCode{.type = "qwen3_vl_text", .source = "qwen3_vl", .head_norm = true},
    ModelCode{.type = "qwen3_vl_moe_text", .source = "qwen3_vl_moe", .head_norm = true},
    ModelCode{.type = "qwen3_5_text", .source = "qwen3_5", .head_norm = true},
    ModelCode{.type = "qwen3_5_moe_text", .source = "qwen3_5_moe", .head_norm = true},
    ModelCode{.type = "olmo2", .source = "olmo2", .head_norm = true, .output_norm = true},
    ModelCode{.type = "gemma", .source = "gemma", .tied = true},
    ModelCode{.type = "gemma2", .source = "gemma2", .tied = true, .output_norm = true, .full_every = 2},
    ModelCode{.type = "gemma3_text",
              .source = "gemma3",
              .tied = true,
              .head_norm = true,
              .output_norm = true,
              .full_every = 6},
    ModelCode{.type = "gemma4_text",
              .source = "gemma4",
              .tied = true,
              .head_norm = true,
              .output_norm = true,
              .full_every = 6},
    ModelCode{.type = "deepseek_v2", .source = "deepseek_v2"},
    ModelCode{.type = "deepseek_v3", .source = "deepseek_v3", .scores = RouterScores::sigmoid},
    ModelCode{
        .type = "deepseek_v32", .source = "inference/model.py, of the model", .scores = RouterScores::sigmoid},
    ModelCode{.type = "deepseek_v4", .source = "deepseek_v4", .scores = RouterScores::sigmoid},
    ModelCode{.type = "kimi_k2", .source = "deepseek_v3", .scores = RouterScores::sigmoid},
    ModelCode{.type = "glm4_moe", .source = "glm4_moe", .scores = RouterScores::sigmoid},
    ModelCode{.type = "glm_moe_dsa", .source = "glm_moe_dsa", .scores = RouterScores::sigmoid},
    ModelCode{.type = "gpt_oss", .source = "gpt_oss", .biases = true, .attention_sinks = true, .full_every = 2},
    ModelCode{.type = "llama4_text", .source = "llama4", .full_every = 4, .scores = RouterScores::sigmoid},
    ModelCode{.type = "minimax_m2", .source = "minimax_m2", .scores = RouterScores::sigmoid},
    ModelCode{
        .type = "step3p7", .source = "modeling_step3p5.py, of the model", .scores = RouterScores::sigmoid},
    ModelCode{.type = "nemotron", .source = "nemotron", .gated = false, .norm = Norm::layernorm},
    ModelCode{.type = "nemotron_h", .source = "nemotron_h", .gated = false, .scores = RouterScores::sigmoid},
    ModelCode{.type = "starcoder2",
              .source = "starcoder2",
              .tied = true,
              .gated = false,
              .norm = Norm::layernorm,
              .biases = true},
    ModelCode{
        .type = "gpt_neox", .source = "gpt_neox", .gated = false, .norm = Norm::layernorm, .biases = true},
    ModelCode{.type = "gpt2",
              .source = "gpt2",
              .tied = true,
              .gated = false,
              .norm = Norm::layernorm,
              .biases = true,
              .learned_positions = true},
    ModelCode{.type = "opt",
              .source = "opt",
              .tied = true,
              .gated = false,
              .norm = Norm::layernorm,
              .biases = true,
              .learned_positions = true},
};

}  // namespace

std::string ModelCode::text() const {
  return "the code of model_type " + std::string(type) + " (" + std::string(source) + ")";
}

std::span<const ModelCode> model_codes() { return kCodes; }

const ModelCode* model_code(std::string_view type) {
  const auto* const found = std::ranges::find(kCodes, type, &ModelCode::type);
  return found == kCodes.end() ? nullptr : found;
}

}}  // namespace c3::configs
