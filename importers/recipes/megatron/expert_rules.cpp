#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "importers/recipes/megatron/dialect.hpp"
#include "importers/recipes/megatron/layer_pattern.hpp"

namespace c3 { inline namespace importers {
namespace {

constexpr std::string_view kOfExperts[] = {"moe_router_topk",
                                           "moe_ffn_hidden_size",
                                           "moe_shared_expert_intermediate_size",
                                           "moe_layer_freq",
                                           "moe_router_num_groups",
                                           "moe_router_group_topk",
                                           "moe_router_score_function",
                                           "moe_router_enable_expert_bias",
                                           "moe_token_dispatcher_type",
                                           "moe_flex_dispatcher_backend",
                                           "moe_enable_deepep",
                                           "moe_expert_capacity_factor",
                                           "moe_shared_expert_overlap",
                                           "overlap_moe_expert_parallel_comm",
                                           "delay_wgrad_compute",
                                           "moe_router_padding_for_quantization",
                                           "moe_router_force_load_balancing"};

void expert_sizes(MegatronReader reader, std::int64_t experts) {
  RecipeKeys& keys = reader.keys;
  keys.take("num_experts", "model.experts.count", {experts, {}});
  keys.take_or_assume({"moe_router_topk"}, "model.experts.per_token",
                      {keys.whole("moe_router_topk").value_or(2), {}}, reader.why());
  struct Size {
    std::string_view name, key;
  };
  for (const auto& [name, key] :
       std::to_array<Size>({{"moe_ffn_hidden_size", "model.experts.width"},
                            {"moe_shared_expert_intermediate_size", "model.experts.shared_width"},
                            {"moe_router_num_groups", "model.experts.groups"},
                            {"moe_router_group_topk", "model.experts.groups_per_token"}}))
    if (const auto size = keys.whole(name)) keys.take(name, key, {*size, {}});
  static constexpr std::string_view kScores[] = {"softmax", "sigmoid", "sqrtsoftplus"};
  const auto score = keys.choice("moe_router_score_function", kScores).value_or("softmax");
  keys.take_or_assume({"moe_router_score_function"}, "model.experts.scores",
                      {score == "softmax" ? "softmax" : "sigmoid", {}}, reader.why());
  if (keys.flag_or("moe_router_enable_expert_bias", false))
    keys.take("moe_router_enable_expert_bias", "model.experts.router_bias", {true, {}});
}

/// Layers with experts: every so many, or written out.
void expert_layers(MegatronReader reader) {
  RecipeKeys& keys = reader.keys;
  const std::vector<std::string> words = keys.words("moe_layer_freq");
  if (words.empty()) return;
  if (words.size() == 1 && words[0].find('[') == std::string::npos) {
    const auto interval = keys.whole("moe_layer_freq");
    if (interval) keys.take("moe_layer_freq", "model.experts.interval", {*interval, {}});
    return;
  }
  const bool is_list = words.size() > 1;
  const auto pattern = layer_pattern(is_list ? fmt::format("[{}]", fmt::join(words, ",")) : words[0]);
  if (!pattern)
    return keys.refuse("moe_layer_freq", "must be a number, or a sum of lists of 0 and 1 such as [0]*3+[1]*58");
  const auto layers = keys.whole("num_layers");
  if (layers && static_cast<std::int64_t>(pattern->size()) != *layers)
    return keys.refuse("moe_layer_freq",
                       fmt::format("has {} layers, and num_layers is {}", pattern->size(), *layers));
  const auto first = std::ranges::find(*pattern, 1);
  if (std::find(first, pattern->end(), 0) != pattern->end())
    return keys.not_modelled("moe_layer_freq", "layers without experts between others");
  keys.take("moe_layer_freq", "model.experts.dense_layers", {std::int64_t{first - pattern->begin()}, {}});
}

void dispatch_rule(MegatronReader reader) {
  RecipeKeys& keys = reader.keys;
  constexpr std::string_view kKey = "training.dispatch";
  static constexpr std::string_view kTypes[] = {"allgather", "alltoall", "alltoall_seq", "flex"};
  static constexpr std::string_view kBackends[] = {"deepep", "hybridep", "ncclep"};
  const std::string type = keys.choice("moe_token_dispatcher_type", kTypes).value_or("allgather");
  const std::string backend = keys.choice("moe_flex_dispatcher_backend", kBackends).value_or("deepep");
  if (type == "flex") {
    if (backend == "ncclep")
      keys.not_modelled("moe_flex_dispatcher_backend", "NCCL's dispatch; taken as DeepEP's");
    keys.take("moe_token_dispatcher_type", kKey, {backend == "hybridep" ? backend : "deepep", {}});
    keys.join("moe_flex_dispatcher_backend", kKey);
    return keys.join("moe_enable_deepep", kKey);
  }
  if (keys.flag_or("moe_enable_deepep", false))
    keys.refuse("moe_enable_deepep", "requires moe_token_dispatcher_type flex");
  keys.take_or_assume({"moe_token_dispatcher_type"}, kKey, {type == "allgather" ? "allgather" : "alltoall", {}},
                      reader.why());
  keys.ignore("moe_flex_dispatcher_backend", "counts with moe_token_dispatcher_type flex alone");
  keys.ignore("moe_enable_deepep", "off");
}

void expert_overlap(MegatronReader reader) {
  RecipeKeys& keys = reader.keys;
  struct Flag {
    std::string_view name, key;
  };
  for (const auto& [name, key] :
       std::to_array<Flag>({{"moe_shared_expert_overlap", "training.shared_expert_overlap"},
                            {"overlap_moe_expert_parallel_comm", "training.micro_batch_overlap"},
                            {"delay_wgrad_compute", "training.delayed_weight_gradients"}}))
    if (const auto flag = keys.flag(name)) keys.take(name, key, {*flag, {}});
  if (const auto factor = keys.number("moe_expert_capacity_factor"))
    keys.take("moe_expert_capacity_factor", "training.capacity_factor", {*factor, {}});
  if (keys.flag_or("moe_router_force_load_balancing", false))
    keys.take("moe_router_force_load_balancing", "training.routing", {"balanced", {}});
  if (keys.flag_or("moe_router_padding_for_quantization", false)) {
    const bool is_wide = keys.word("fp8_recipe") == "mxfp8" || keys.has("fp4");
    keys.take("moe_router_padding_for_quantization", "training.expert_padding",
              {std::int64_t{is_wide ? 32 : 16}, {}});
  }
}

}  // namespace

void megatron_experts(MegatronReader reader) {
  RecipeKeys& keys = reader.keys;
  const std::int64_t experts = keys.whole_or("num_experts", 0),
                     ranks = reader.degree("expert_model_parallel_size");
  const bool has_model = describes_megatron_model(keys);
  if (experts == 0 && has_model) {
    if (ranks > 1) keys.refuse("expert_model_parallel_size", "requires num_experts");
    keys.ignore("num_experts", "none");
    for (const std::string_view name : kOfExperts)
      keys.ignore(name, "the model has no experts");
    return;
  }
  if (experts > 0 && experts % ranks != 0)
    keys.refuse("expert_model_parallel_size", fmt::format("{} ranks do not divide {} experts", ranks, experts));
  if (has_model) {
    expert_sizes(reader, experts);
    expert_layers(reader);
  }
  if (experts == 0 && ranks == 1) return;
  dispatch_rule(reader);
  expert_overlap(reader);
}

}}  // namespace c3::importers
