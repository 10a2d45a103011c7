#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "importers/recipes/megatron/dialect.hpp"

namespace c3 { inline namespace importers {
namespace {

constexpr std::string_view kRecipeKey = "training.precision";

/// What a recipe's name says, in the words of the arguments.
struct MegatronTypes {
  bool bf16 = false, fp16 = false;
  std::string fp8 = {};  ///< its recipe; empty: none
  bool fp4 = false;
};

bool has_piece(const std::string& name, std::string_view part) { return name.find(part) != std::string::npos; }

/// What else a name of Megatron-Bridge's says (src/megatron/bridge/training/mixed_precision.py @067f987d).
struct NamedRecipe {
  std::string_view name;             ///< without the type in front
  bool gathers = false;              ///< weights in 8 or 4 bits alone
  std::int64_t first = 0, last = 0;  ///< layers in 16 bits
};

constexpr auto kNamedRecipes =
    std::to_array<NamedRecipe>({{"bf16_with_fp8_delayed_scaling_mixed", true},
                                {"bf16_with_mxfp8_mixed", true},
                                {"bf16_with_fp8_current_scaling_mixed", true, 1, 1},
                                {"nemotron_h_bf16_with_fp8_current_scaling_mixed", true, 2, 2},
                                {"nanov2_bf16_with_fp8_current_scaling_mixed", true, 2, 2},
                                {"bf16_with_nvfp4_mixed", true}});

/// The types in names such as "bf16_with_fp8_current_scaling_mixed", "bf16-mixed" and 32.
MegatronTypes types_of_name(std::string name) {
  std::ranges::replace(name, '-', '_');
  MegatronTypes types{.bf16 = has_piece(name, "bf16"),
                      .fp16 = name.starts_with("fp16") || name.starts_with("16")};
  if (has_piece(name, "mxfp8"))
    types.fp8 = "mxfp8";
  else if (has_piece(name, "subchannel") || has_piece(name, "blockwise") || has_piece(name, "nanov2"))
    types.fp8 = "blockwise";
  else if (has_piece(name, "current"))
    types.fp8 = "tensorwise";
  else if (has_piece(name, "fp8"))
    types.fp8 = "delayed";
  types.fp4 = has_piece(name, "nvfp4");
  return types;
}

/// After the file's own keys.
void assume_named(RecipeKeys& keys, std::string name) {
  std::ranges::replace(name, '-', '_');
  if (name.starts_with("fp16")) name.replace(0, 4, "bf16");
  const auto* const found = std::ranges::find(kNamedRecipes, name, &NamedRecipe::name);
  if (found == kNamedRecipes.end()) return;
  const std::string why = "mixed_precision's recipe: Megatron-Bridge @067f987d, training/mixed_precision.py";
  keys.assume("training.quantized_parameters", {found->gathers, {}}, why);
  if (found->first > 0) keys.assume("training.first_layers_16bit", {found->first, {}}, why);
  if (found->last > 0) keys.assume("training.last_layers_16bit", {found->last, {}}, why);
}

/// A recipe's name prevails over the flags.
void dtype_rule(MegatronReader reader, const std::optional<MegatronTypes>& named) {
  RecipeKeys& keys = reader.keys;
  const bool bf16 = named ? named->bf16 : keys.flag_or("bf16", false),
             fp16 = named ? named->fp16 : keys.flag_or("fp16", false);
  if (!named && bf16 && fp16) keys.refuse("fp16", "cannot be combined with bf16");
  const std::string type = bf16 ? "bf16" : fp16 ? "fp16" : "fp32";
  if (named) {
    keys.take("mixed_precision", "model.dtype", {type, {}});
    for (const char* const name : {"bf16", "fp16"})
      keys.ignore(name, "the recipe's name prevails");
  } else {
    keys.take_or_assume({bf16 ? "bf16" : "fp16", bf16 ? "fp16" : "bf16"}, "model.dtype", {type, {}},
                        reader.why());
  }
}

std::string ours_of_fp8(const std::string& recipe) { return recipe == "mxfp8" ? recipe : "fp8_" + recipe; }

void fp8_rule(MegatronReader reader, const MegatronTypes& named) {
  RecipeKeys& keys = reader.keys;
  static constexpr std::string_view kRecipes[] = {"delayed", "tensorwise", "blockwise", "mxfp8", "custom"};
  const std::string usual = named.fp8.empty() ? "delayed" : named.fp8;
  const std::string recipe = keys.choice("fp8_recipe", kRecipes).value_or(usual);
  if (recipe == "custom") return keys.not_modelled("fp8", "a recipe of one's own");
  keys.take_or_assume({"fp8", "mixed_precision", "fp8_recipe"}, kRecipeKey, {ours_of_fp8(recipe), {}},
                      reader.why());
}

/// \returns whether products run in 8 or 4 bits
bool recipe_rule(MegatronReader reader, const MegatronTypes& named) {
  RecipeKeys& keys = reader.keys;
  const auto is_on = [&](std::string_view name) {
    const auto word = keys.word(name);
    return word && *word != "none" && *word != "None" && *word != "false" && !word->empty();
  };
  const bool fp8 = is_on("fp8") || !named.fp8.empty(), fp4 = is_on("fp4") || named.fp4;
  if (is_on("fp8") && is_on("fp4")) keys.refuse("fp4", "cannot be combined with fp8");
  if (fp4) {
    keys.take_or_assume({"fp4", "mixed_precision", "fp4_recipe"}, kRecipeKey, {"nvfp4", {}}, reader.why());
  } else if (fp8) {
    fp8_rule(reader, named);
  }
  for (const char* const name : {"fp8", "fp4"})
    keys.ignore(name, "off");
  for (const char* const name : {"fp8_recipe", "fp4_recipe"})
    keys.ignore(name, "counts with 8 or 4 bits alone");
  return fp8 || fp4;
}

void edge_layers(MegatronReader reader) {
  RecipeKeys& keys = reader.keys;
  const bool is_on = keys.flag_or("first_last_layers_bf16", false);
  struct Edge {
    std::string_view name, key;
  };
  for (const auto& [name, key] : {Edge{"num_layers_at_start_in_bf16", "training.first_layers_16bit"},
                                  Edge{"num_layers_at_end_in_bf16", "training.last_layers_16bit"}}) {
    if (is_on)
      keys.take_or_assume({name}, key, {keys.whole_or(name, 1), {}}, reader.why());
    else
      keys.ignore(name, "first_last_layers_bf16 is off");
  }
  keys.ignore("first_last_layers_bf16", is_on ? "a part of what training.first_layers_16bit says" : "off");
}

void quantized_rule(MegatronReader reader, bool is_quantized) {
  RecipeKeys& keys = reader.keys;
  struct Flag {
    std::string_view name, key;
  };
  for (const auto& [name, key] : {Flag{"fp8_param_gather", "training.quantized_parameters"},
                                  Flag{"fp4_param_gather", "training.quantized_parameters"},
                                  Flag{"fp8_wgrad", "training.quantized_wgrad"},
                                  Flag{"fp8_dot_product_attention", "training.quantized_attention"},
                                  Flag{"fp8_multi_head_attention", "training.quantized_attention"},
                                  Flag{"activation_func_fp8_input_store", "training.quantized_activations"}}) {
    const auto flag = keys.flag(name);
    if (!flag) continue;
    if (!is_quantized)
      keys.ignore(name, "products run in 16 bits");
    else if (keys.gives(key))
      keys.ignore(name, fmt::format("{} is given already", key));
    else
      keys.take(name, key, {*flag, {}});
  }
  edge_layers(reader);
}

void gradient_rule(MegatronReader reader) {
  RecipeKeys& keys = reader.keys;
  constexpr std::string_view kKey = "framework.gradient_dtype";
  const std::string type = keys.given("model.dtype");
  const bool in_16_bits = keys.flag_or("grad_reduce_in_bf16", false);
  const auto in_fp32 = keys.flag("grad_reduce_in_fp32");
  // validate_args() puts fp32 beside bf16.
  const bool usual = type != "\"fp16\"";
  const bool is_fp32 = in_16_bits ? false : in_fp32.value_or(usual) || type == "\"fp32\"";
  const std::string sixteen = type == "\"fp16\"" ? "fp16" : "bf16";
  const std::string_view first = in_16_bits ? "grad_reduce_in_bf16" : "grad_reduce_in_fp32";
  const std::string_view second = in_16_bits ? "grad_reduce_in_fp32" : "grad_reduce_in_bf16";
  keys.take_or_assume({first, second}, kKey, {is_fp32 ? "fp32" : sixteen, {}}, reader.why());
}

}  // namespace

void megatron_precision(MegatronReader reader) {
  const auto name = reader.keys.word("mixed_precision");
  const auto named = name ? std::optional(types_of_name(*name)) : std::nullopt;
  dtype_rule(reader, named);
  quantized_rule(reader, recipe_rule(reader, named.value_or(MegatronTypes{})));
  if (name) assume_named(reader.keys, *name);
  gradient_rule(reader);
}

}}  // namespace c3::importers
