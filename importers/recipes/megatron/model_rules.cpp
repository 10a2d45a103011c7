#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "importers/recipes/megatron/dialect.hpp"

namespace c3 { inline namespace importers {
namespace {

struct Sizes {
  std::int64_t layers, hidden, heads;
};

struct FeedForward {
  bool is_gated = false;
  std::string activation = "gelu";
};

void activation_rule(MegatronReader reader, const FeedForward& found,
                     std::initializer_list<std::string_view> names) {
  RecipeKeys& keys = reader.keys;
  keys.take_or_assume(names, "model.activation", {found.activation, {}}, reader.why());
  keys.take_or_assume({"gated_linear_unit"}, "model.gated", {found.is_gated, {}}, reader.why());
  for (const char* const name : {"swiglu", "squared_relu", "quick_geglu", "activation_func"})
    keys.ignore(name, keys.has("activation_func") ? "activation_func says it" : "off");
}

/// "torch.nn.functional.silu" and what else Megatron-Core's own configuration calls it.
std::string activation_of(std::string_view function) {
  if (function.ends_with("silu") || function.ends_with("swiglu")) return "silu";
  if (function.ends_with("relu")) return "relu";
  return "gelu";
}

FeedForward feed_forward_rule(MegatronReader reader) {
  RecipeKeys& keys = reader.keys;
  FeedForward found{.is_gated = keys.flag_or("gated_linear_unit", false)};
  std::string_view by = "activation_func";
  if (keys.flag_or("swiglu", false)) {
    found = {true, "silu"};
    by = "swiglu";
  } else if (keys.flag_or("squared_relu", false)) {
    found.activation = "relu";
    by = "squared_relu";
    keys.fact("squared ReLU is taken as ReLU");
  } else if (keys.flag_or("quick_geglu", false)) {
    found = {true, "gelu-tanh"};
    by = "quick_geglu";
  } else if (const auto function = keys.word("activation_func")) {
    // NeMo names gated functions: fast-swiglu, geglu, reglu.
    found.activation = activation_of(*function);
    found.is_gated = found.is_gated || function->ends_with("glu");
  }
  activation_rule(reader, found, {by});
  return found;
}

void ffn_rule(MegatronReader reader, const Sizes& sizes, bool is_gated_by_flag) {
  RecipeKeys& keys = reader.keys;
  // The rule of validate_args(): with --swiglu two thirds, in whole 64.
  const std::int64_t two_thirds = 4 * sizes.hidden * 2 / 3 / 64 * 64;
  const std::int64_t usual = is_gated_by_flag ? two_thirds : 4 * sizes.hidden;
  const auto given = keys.whole("ffn_hidden_size");
  keys.take_or_assume({"ffn_hidden_size"}, "model.ffn", {given.value_or(usual), {}},
                      is_gated_by_flag ? "two thirds of 4 x hidden_size in whole 64: " + reader.why()
                                       : "4 x hidden_size: " + reader.why());
}

bool is_grouped_query(MegatronReader reader) {
  if (reader.dialect.groups_queries_by_flag) return reader.keys.flag_or("group_query_attention", false);
  return reader.keys.has("num_query_groups") && reader.keys.flag_or("group_query_attention", true);
}

void heads_rule(MegatronReader reader, const Sizes& sizes) {
  RecipeKeys& keys = reader.keys;
  const bool is_latent = keys.flag_or("multi_latent_attention", false);
  const bool is_grouped = is_grouped_query(reader);
  if (is_latent && is_grouped && reader.dialect.groups_queries_by_flag)
    keys.refuse("group_query_attention", "excludes multi_latent_attention");
  if (is_grouped && !is_latent && keys.has("num_query_groups")) {
    keys.take("num_query_groups", "model.kv_heads", {keys.whole("num_query_groups").value_or(1), {}});
    keys.join("group_query_attention", "model.kv_heads");
  } else if (is_grouped && !is_latent) {
    keys.take("group_query_attention", "model.kv_heads", {std::int64_t{1}, {}});  // num_query_groups is 1
  } else {
    keys.assume("model.kv_heads", {sizes.heads, {}}, "as many as heads: " + reader.why());
    keys.ignore("num_query_groups",
                is_latent ? "latent attention has keys of its own" : "counts with group_query_attention alone");
    keys.ignore("group_query_attention", "off");
  }
  if (is_latent) return keys.ignore("kv_channels", "latent attention has sizes of its own");
  const auto channels = keys.whole("kv_channels");
  if (channels) return keys.take("kv_channels", "model.head_dim", {*channels, {}});
  if (sizes.hidden % sizes.heads != 0)
    keys.refuse("num_attention_heads",
                fmt::format("{} heads do not divide {} elements; give kv_channels", sizes.heads, sizes.hidden));
}

void latent_rule(MegatronReader reader) {
  RecipeKeys& keys = reader.keys;
  struct Size {
    std::string_view name, key;
    std::int64_t fallback;
  };
  const auto sizes =
      std::to_array<Size>({{"kv_lora_rank", "model.latent.kv_rank", reader.dialect.latent_kv_rank},
                           {"qk_head_dim", "model.latent.plain_dim", 128},
                           {"qk_pos_emb_head_dim", "model.latent.rotated_dim", 64},
                           {"v_head_dim", "model.latent.value_dim", 128}});
  const bool is_latent = keys.flag_or("multi_latent_attention", false);
  if (!is_latent) {
    keys.ignore("multi_latent_attention", "off");
    keys.ignore("q_lora_rank", "of latent attention, which the model does not have");
  }
  for (const Size& size : sizes) {
    if (is_latent)
      keys.take_or_assume({size.name}, size.key, {keys.whole(size.name).value_or(size.fallback), {}},
                          reader.why());
    else
      keys.ignore(size.name, "of latent attention, which the model does not have");
  }
  if (!is_latent) return;
  keys.join("multi_latent_attention", "model.latent");
  const std::int64_t usual = reader.dialect.latent_query_rank;
  const auto rank = keys.whole("q_lora_rank");
  if (rank || usual > 0)
    keys.take_or_assume({"q_lora_rank"}, "model.latent.query_rank", {rank.value_or(usual), {}}, reader.why());
}

void vocabulary_rule(MegatronReader reader) {
  RecipeKeys& keys = reader.keys;
  constexpr std::string_view kKey = "model.vocabulary";
  const auto padded = keys.whole("padded_vocab_size"), size = keys.whole("vocab_size");
  const bool is_filled = keys.flag_or("should_pad_vocab", reader.dialect.groups_queries_by_flag);
  const auto multiple = keys.whole("make_vocab_size_divisible_by").value_or(128);
  if (padded) {
    keys.take_or_assume({"padded_vocab_size", "vocab_size", "make_vocab_size_divisible_by"}, kKey,
                        {*padded, {}}, "");
  } else if (size) {
    const std::int64_t parts =
        std::min<std::int64_t>(multiple, 1 << 20) * std::min<std::int64_t>(reader.tensor(), 1 << 16);
    const std::int64_t filled = is_filled ? (*size + parts - 1) / parts * parts : *size;
    keys.take_or_assume({"vocab_size", "make_vocab_size_divisible_by"}, kKey, {filled, {}}, "");
  } else {
    keys.ignore("make_vocab_size_divisible_by", "the size of the vocabulary is not in this file");
    keys.fact("the vocabulary is the tokenizer's: give model.vocabulary");
  }
  keys.join("should_pad_vocab", kKey);
}

void positions_rule(MegatronReader reader) {
  RecipeKeys& keys = reader.keys;
  static constexpr std::string_view kTypes[] = {"learned_absolute", "rope", "yarn", "mrope",
                                                "relative",         "none"};
  std::string type = keys.choice("position_embedding_type", kTypes).value_or("learned_absolute");
  if (keys.flag_or("use_rotary_position_embeddings", false)) type = "rope";
  const auto rows = keys.whole("max_position_embeddings"), sequence = keys.whole("seq_length");
  if (rows && sequence && *rows < *sequence)
    keys.refuse("max_position_embeddings",
                fmt::format("{} is less than seq_length, which is {}", *rows, *sequence));
  if (type == "learned_absolute" && (rows || sequence)) {
    keys.take_or_assume({"max_position_embeddings", "position_embedding_type"}, "model.positions",
                        {rows ? *rows : *sequence, {}}, "as many as tokens of a sequence");
  } else if (type == "relative") {
    keys.not_modelled("position_embedding_type", "relative positions, which add to scores");
  }
  for (const char* const name :
       {"position_embedding_type", "use_rotary_position_embeddings", "max_position_embeddings"})
    keys.ignore(name, "no table of positions");
}

void norm_rule(MegatronReader reader) {
  RecipeKeys& keys = reader.keys;
  static constexpr std::string_view kNorms[] = {"LayerNorm", "RMSNorm", "layernorm1p",
                                                "low_precision_layernorm"};
  const auto norm = keys.choice("normalization", kNorms);
  keys.take_or_assume({"normalization"}, "model.norm", {norm == "RMSNorm" ? "rmsnorm" : "layernorm", {}},
                      reader.why());
  const auto biases = keys.flag("add_bias_linear");
  keys.take_or_assume({"add_bias_linear"}, "model.biases", {biases.value_or(true), {}}, reader.why());
  if (keys.word("softmax_type") == "learnable")
    keys.take("softmax_type", "model.attention_sinks", {true, {}});
  else
    keys.ignore("softmax_type", "the usual one");
}

void parts_without_words(MegatronReader reader, const Sizes& sizes) {
  RecipeKeys& keys = reader.keys;
  if (const std::int64_t further = keys.whole_or("mtp_num_layers", 0); further > 0) {
    const double share = static_cast<double>(further) / static_cast<double>(sizes.layers + further);
    keys.not_modelled("mtp_num_layers", fmt::format("{} modules that predict further tokens", further));
    keys.unmodelled({fmt::format("{} modules that predict further tokens, each a layer and a head", further),
                     share, share});
  }
  if (keys.has("window_size")) {
    keys.not_modelled("window_size", "attention within a window");
    keys.unmodelled({"attention within a window: every query sees the whole sequence here"});
  }
  if (keys.has("hybrid_layer_pattern")) {
    keys.not_modelled("hybrid_layer_pattern", "layers of other kinds than attention");
    keys.unmodelled({"layers of other kinds than attention, which are taken as attention", 1.0, 1.0});
  }
}

void check_divisions(MegatronReader reader, const Sizes& sizes) {
  RecipeKeys& keys = reader.keys;
  const std::int64_t ranks = reader.tensor(), groups = keys.whole("num_query_groups").value_or(sizes.heads);
  if (sizes.heads % ranks != 0)
    keys.refuse("num_attention_heads",
                fmt::format("{} heads do not divide among {} tensor-parallel ranks", sizes.heads, ranks));
  if (is_grouped_query(reader) && groups % ranks != 0 && ranks % groups != 0)
    keys.refuse("num_query_groups",
                fmt::format("{} groups are neither a multiple nor a divisor of {} tensor-parallel ranks",
                            groups, ranks));
}

}  // namespace

bool describes_megatron_model(const RecipeKeys& keys) {
  return keys.has("num_layers") && keys.has("hidden_size") && keys.has("num_attention_heads");
}

void megatron_model(MegatronReader reader) {
  RecipeKeys& keys = reader.keys;
  const auto layers = keys.whole("num_layers"), hidden = keys.whole("hidden_size"),
             heads = keys.whole("num_attention_heads");
  if (!layers || !hidden || !heads) return;
  if (*hidden > 1'048'576) return keys.refuse("hidden_size", "must be 1048576 or less");
  const Sizes sizes{*layers, *hidden, *heads};
  const bool is_swiglu = keys.flag_or("swiglu", false);
  keys.assume("model.name", {"model", {}}, "the file has no name for it");
  feed_forward_rule(reader);
  ffn_rule(reader, sizes, is_swiglu);
  heads_rule(reader, sizes);
  latent_rule(reader);
  vocabulary_rule(reader);
  positions_rule(reader);
  norm_rule(reader);
  parts_without_words(reader, sizes);
  check_divisions(reader, sizes);
}

}}  // namespace c3::importers
