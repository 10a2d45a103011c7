#include "importers/recipes/recipe_kinds.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "importers/recipes/file_keys.hpp"

namespace c3 { inline namespace importers {
namespace {

constexpr auto kAbsent = std::string_view::npos;

// Two of them are not chance.
constexpr std::array<std::string_view, 10> kTelling = {"tensor_model_parallel_size",
                                                       "pipeline_model_parallel_size",
                                                       "context_parallel_size",
                                                       "num_layers",
                                                       "hidden_size",
                                                       "num_attention_heads",
                                                       "micro_batch_size",
                                                       "global_batch_size",
                                                       "seq_length",
                                                       "use_distributed_optimizer"};

bool ends_name(std::string_view text, std::size_t end) {
  return end >= text.size() || std::string_view(" \t\r\n=:\"'\\)").find(text[end]) != kAbsent;
}

/// Whether \p name stands in \p text as a whole word behind \p before.
bool has_word(std::string_view text, std::string_view before, const std::string& name) {
  for (std::size_t at = text.find(name); at != kAbsent; at = text.find(name, at + name.size())) {
    const std::string_view front = text.substr(0, at);
    if (front.ends_with(before) && ends_name(text, at + name.size())) return true;
  }
  return false;
}

bool has_megatron_options(std::string_view text) {
  return std::ranges::count_if(kTelling, [&](std::string_view name) {
           std::string option(name);
           std::ranges::replace(option, '_', '-');
           return has_word(text, "--", option);
         }) >= 2;
}

/// Names at the beginning of lines, whatever their indentation, with a colon behind.
bool has_megatron_keys(std::string_view text) {
  std::vector<std::string_view> found;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    line.remove_prefix(std::min(line.find_first_not_of(" \t-"), line.size()));
    const std::string_view name = line.substr(0, line.find(':'));
    if (std::ranges::find(kTelling, name) == kTelling.end() || name.size() == line.size()) continue;
    if (std::ranges::find(found, name) == found.end()) found.push_back(name);
    if (found.size() >= 2) return true;
  }
  return false;
}

/// A table's head of TOML at the beginning of a line.
bool has_toml_table(std::string_view text, std::string_view name) {
  const std::string head = "[" + std::string(name) + "]";
  for (std::size_t at = text.find(head); at != kAbsent; at = text.find(head, at + 1))
    if (at == 0 || text[at - 1] == '\n') return true;
  return false;
}

bool is_torchtitan_text(std::string_view text) {
  static constexpr std::string_view kOwn[] = {"parallelism", "activation_checkpoint", "lr_scheduler", "job",
                                              "float8"};
  const auto own =
      std::ranges::count_if(kOwn, [&](std::string_view name) { return has_toml_table(text, name); });
  return own >= 1 && (has_toml_table(text, "training") || has_toml_table(text, "model"));
}

RecipeKind kind_of_json(std::span<const std::string_view> outer) {
  if (has_keys(outer, {"model_type"}) || has_keys(outer, {"architectures"})) return RecipeKind::none;
  const bool is_deepspeed = has_keys(outer, {"zero_optimization"}) ||
                            has_keys(outer, {"train_micro_batch_size_per_gpu"}) ||
                            has_keys(outer, {"train_batch_size", "optimizer"});
  return is_deepspeed ? RecipeKind::deepspeed : RecipeKind::none;
}

RecipeKind kind_of_yaml(std::string_view text, std::span<const std::string_view> outer) {
  const bool is_accelerate = has_keys(outer, {"distributed_type"}) ||
                             has_keys(outer, {"compute_environment"}) ||
                             has_keys(outer, {"fsdp_config", "num_processes"});
  if (is_accelerate) return RecipeKind::accelerate;
  const bool has_megatron = has_megatron_keys(text);
  if (has_keys(outer, {"trainer"})) {
    const bool is_nemo = has_megatron || has_keys(outer, {"exp_manager"});
    return is_nemo ? RecipeKind::nemo : RecipeKind::lightning;
  }
  static constexpr std::string_view kBridge[] = {"train",           "ddp",        "comm_overlap",
                                                 "mixed_precision", "checkpoint", "dist"};
  const bool is_bridge = has_keys(outer, {"model"}) && std::ranges::any_of(kBridge, [&](std::string_view key) {
                           return has_keys(outer, {key});
                         });
  if (is_bridge && (has_megatron || text.find("megatron.bridge") != kAbsent))
    return RecipeKind::megatron_bridge;
  return has_megatron ? RecipeKind::megatron_yaml : RecipeKind::none;
}

}  // namespace

RecipeKind recipe_kind_of(std::string_view text) {
  if (text.size() > kLargestRecipe) return RecipeKind::none;
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == kAbsent || text[first] == '<') return RecipeKind::none;
  const std::vector<std::string_view> outer = outer_keys(text);
  if (text[first] == '{') return kind_of_json(outer);
  if (has_megatron_options(text)) return RecipeKind::megatron_script;
  if (is_torchtitan_text(text)) return RecipeKind::torchtitan;
  return outer.empty() ? RecipeKind::none : kind_of_yaml(text, outer);
}

}}  // namespace c3::importers
