#include "configs/foreign/ignored_keys.hpp"

#include <algorithm>
#include <array>

namespace c3 { inline namespace configs {
namespace {

struct Ignored {
  std::string_view key;  ///< '*' at an end stands for any text
  std::string_view why;
};

constexpr std::string_view kInference = "of generating text";
constexpr std::string_view kAngles = "which angles positions are turned by, at the same cost";
constexpr std::string_view kNumbers = "a number in a formula, at the same cost";
constexpr std::string_view kFiles = "of files and their readers";
constexpr std::string_view kFurtherTokens =
    "heads that predict further tokens: transformers loads the model without them";

constexpr std::array kIgnored = {
    Ignored{"architectures", kFiles},
    Ignored{"auto_map", kFiles},
    Ignored{"_name_or_path", kFiles},
    Ignored{"transformers_version", kFiles},
    Ignored{"tokenizer_class", kFiles},
    Ignored{"torchscript", kFiles},
    Ignored{"id2label", kFiles},
    Ignored{"label2id", kFiles},
    Ignored{"*_token_id", "a token's number"},
    Ignored{"*_token_index", "a token's number"},
    Ignored{"*_placeholder", kFiles},
    Ignored{"expand", "mamba_num_heads and mamba_head_dim say the same"},
    Ignored{"full_attention_interval", "layer_types says the same"},
    Ignored{"hidden_size_per_layer_input", "0: layers have no embeddings of their own"},
    Ignored{"vocab_size_per_layer_input", "of embeddings of layers, which there are none of"},
    Ignored{"num_kv_shared_layers", "0: every layer has its own"},
    Ignored{"use_double_wide_mlp", "of layers that share keys, which there are none of"},
    Ignored{"mamba_hidden_act", "SiLU, as the convolution's kernel has it"},
    Ignored{"mamba_proj_bias", "not modelled: biases of two projections, below 0.1 % of a model"},
    Ignored{"use_conv_bias", "a number for each channel, which is there in any case"},
    Ignored{"use_mamba_kernels", "mamba_ssm's kernels are what is modelled"},
    Ignored{"time_step_*", "of weights before training"},
    Ignored{"moe_shared_expert_overlap", "how a framework runs it, not what the model is"},
    Ignored{"initializer_range", "of weights before training"},
    Ignored{"rescale_prenorm_residual", "of weights before training"},
    Ignored{"*_eps", kNumbers},
    Ignored{"*_epsilon", kNumbers},
    Ignored{"rope_*", kAngles},
    Ignored{"*_rope_theta", kAngles},
    Ignored{"*rope_interleave", kAngles},
    Ignored{"partial_rotary_factor", kAngles},
    Ignored{"rotary_*", kAngles},
    Ignored{"use_mrope", kAngles},
    Ignored{"no_rope_layer*", kAngles},
    Ignored{"attn_temperature_tuning", kNumbers},
    Ignored{"floor_scale", kNumbers},
    Ignored{"attn_scale", kNumbers},
    Ignored{"*_jitter_noise", kNumbers},
    Ignored{"initial_context_length", kAngles},
    Ignored{"max_position_embeddings", "positions are turned, not looked up"},
    Ignored{"quantization_config",
            "of the published weights; a step's types are training.precision and model.dtype"},
    Ignored{"expert_dtype", "of the published weights"},
    Ignored{"use_cache", kInference},
    Ignored{"num_logits_to_keep", kInference},
    Ignored{"routed_scaling_factor", kNumbers},
    Ignored{"*_scaling_factor", kNumbers},
    Ignored{"norm_topk_prob", kNumbers},
    Ignored{"*_softcapping", "not modelled: some instructions for each logit"},
    Ignored{"swiglu_limit", "not modelled: a comparison for each value"},
    Ignored{"*aux_loss*", "not modelled: a small kernel for each router"},
    Ignored{"seq_aux", "not modelled: a small kernel for each router"},
    Ignored{"output_router_logits", "not modelled: a small kernel for each router"},
    Ignored{"moe_router_dtype", "not modelled: the type of a small product"},
    Ignored{"pretraining_tp", "how the published weights were trained"},
    Ignored{"ep_size", "how the published weights were trained"},
    Ignored{"qk_head_dim", "the sum of two others"},
    Ignored{"residual_in_fp32", "not modelled: the residual sum has the type of the model"},
    Ignored{"num_nextn_predict_layers", kFurtherTokens},
    Ignored{"*mtp*", kFurtherTokens},
    Ignored{"max_window_layers", "of windows that are not used"},
    Ignored{"use_bfloat16", kFiles},
    Ignored{"is_decoder", kFiles},
    Ignored{"is_encoder_decoder", kFiles},
    Ignored{"add_cross_attention", kFiles},
    Ignored{"cross_attention_hidden_size", kFiles},
    Ignored{"chunk_size_feed_forward", kInference},
    Ignored{"output_*", kInference},
    Ignored{"return_dict*", kInference},
    Ignored{"num_beam*", kInference},
    Ignored{"top_k", kInference},
    Ignored{"top_p", kInference},
    Ignored{"typical_p", kInference},
    Ignored{"temperature", kInference},
    Ignored{"*_penalty", kInference},
    Ignored{"*_length", kInference},
    Ignored{"*_ngram_size", kInference},
    Ignored{"*suppress_tokens", kInference},
    Ignored{"bad_words_ids", kInference},
    Ignored{"do_sample", kInference},
    Ignored{"early_stopping", kInference},
    Ignored{"num_return_sequences", kInference},
    Ignored{"remove_invalid_values", kInference},
    Ignored{"prefix", kInference},
    Ignored{"*dropout*", "not modelled: fine-tuning and pretraining of these models leave it out"},
    Ignored{"*_pdrop", "not modelled: fine-tuning and pretraining of these models leave it out"},
    Ignored{"problem_type", kFiles},
    Ignored{"pruned_heads", kFiles},
    Ignored{"finetuning_task", kFiles},
    Ignored{"task_specific_params", kFiles},
    Ignored{"tf_legacy_loss", kFiles},
    Ignored{"tie_encoder_decoder", kFiles},
    Ignored{"audio_config", "a part that text does not go through"},
    Ignored{"use_unified_vision_chunk", "a part that text does not go through"},
    Ignored{"vision_*", "a part that text does not go through"},
    Ignored{"use_bidirectional_attention", "a part that text does not go through"},
    Ignored{"*_ssm_*", "of a state that is not modelled"},
    Ignored{"torch_dtype", "the type of the model inside counts"},
    Ignored{"dtype", "the type of the model inside counts"},
    Ignored{"mlp_only_layers", "there are no experts"},
    Ignored{"ignore_index", "tokens that the loss leaves out, at the same cost"},
};

bool matches(std::string_view pattern, std::string_view key) {
  const bool at_begin = pattern.starts_with('*'), at_end = pattern.ends_with('*');
  const std::string_view word =
      pattern.substr(at_begin ? 1 : 0, pattern.size() - (at_begin ? 1 : 0) - (at_end ? 1 : 0));
  if (at_begin && at_end) return key.find(word) != std::string_view::npos;
  if (at_begin) return key.ends_with(word);
  return at_end ? key.starts_with(word) : key == word;
}

}  // namespace

std::optional<std::string> why_ignored(std::string_view key) {
  const auto* const found =
      std::ranges::find_if(kIgnored, [&](const Ignored& ignored) { return matches(ignored.key, key); });
  if (found == kIgnored.end()) return std::nullopt;
  return std::string(found->why);
}

}}  // namespace c3::configs
