#include "configs/foreign/hugging_face.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "configs/fields/model_fields.hpp"
#include "configs/foreign/hugging_face_blocks.hpp"
#include "configs/foreign/hugging_face_experts.hpp"
#include "configs/foreign/ignored_keys.hpp"
#include "configs/foreign/model_code.hpp"
#include "configs/foreign/model_keys.hpp"
#include "configs/foreign/unmodelled.hpp"
#include "workloads/models/transformer.hpp"

namespace c3 { inline namespace configs {
namespace {

constexpr std::array<std::string_view, 4> kWrappers = {"text_config", "language_config", "llm_config",
                                                       "thinker_config"};
constexpr std::int64_t kShortSequence = 8192, kLongSequence = 131'072;  // tokens of which caches are said
constexpr double kMostParameters = 1e17;  // far above what anybody trains, far below what overflows

/// Letters, digits and dashes, as names of presets have them.
std::string slug(std::string_view text) {
  std::string name;
  for (const unsigned char c : text.substr(0, 40))
    name += std::isalnum(c) != 0 ? static_cast<char>(std::tolower(c)) : '-';
  return name.empty() || name.front() == '-' ? "model" + name : name;
}

class HuggingFaceReader {
 public:
  explicit HuggingFaceReader(const ForeignFile& file)
      : file_(file),
        json_(parse_foreign_json(file)),
        outer_(file, json_),
        wrapper_(wrapper_in(json_)),
        keys_(reading_, file, wrapper_.empty() ? json_ : json_[wrapper_], std::string(wrapper_)) {}

  FileReading read() {
    refuse_others();
    read_code();
    read_layers();
    read_attention();
    read_feed_forward();
    read_experts();
    read_hugging_face_blocks(keys_, code_, model_);
    read_vocabulary();
    count();
    ignore_rest();
    return std::move(reading_);
  }

 private:
  static std::string_view wrapper_in(const Json& json) {
    const auto* const found = std::ranges::find_if(
        kWrappers, [&](std::string_view name) { return json.contains(name) && json[name].is_object(); });
    return found == kWrappers.end() ? std::string_view() : *found;
  }

  /// Encoders and other models have layers like a decoder's in their files, and are none.
  void refuse_others() {
    constexpr std::array<std::string_view, 3> kDecoders = {"ForCausalLM", "ForConditionalGeneration",
                                                           "LMHeadModel"};
    const auto is_decoder = [&](const std::string& name) {
      return std::ranges::any_of(kDecoders, [&](std::string_view end) { return name.ends_with(end); });
    };
    const std::vector<std::string> classes =
        outer_.texts({"architectures"}).value_or(std::vector<std::string>());
    const auto other = std::ranges::find_if_not(classes, is_decoder);
    if (other != classes.end())
      throw outer_.error("architectures",
                         fmt::format("'{}' does not predict the next token; a class that does ends in {}",
                                     *other, fmt::join(kDecoders, ", ")));
    for (JsonKeys* keys : {&outer_, static_cast<JsonKeys*>(&keys_)})
      if (keys->flag({"is_encoder_decoder"}).value_or(false))
        throw keys->error("is_encoder_decoder", "true is a model of two stacks; only decoders are read");
  }

  void read_code() {
    const std::optional<std::string> type = keys_.text({"model_type"});
    const ModelCode* found = type ? model_code(*type) : nullptr;
    const std::optional<std::string> outer = outer_.text({"model_type"});
    if (found == nullptr && outer) found = model_code(*outer);
    if (found != nullptr)
      code_ = *found;
    else
      reading_.facts.push_back(fmt::format("model_type \"{}\" is not known: its code is taken for LLaMA's",
                                           type.value_or(outer.value_or(""))));
    type_ = type.value_or(outer.value_or("model"));
    if (type) keys_.ignore(keys_.dotted("model_type"), "chooses the code, whose choices are below");
    keys_.assume("structure", name_of(Structure::decoder), code_.text());
    keys_.assume("norm", name_of(code_.norm), code_.text());
    model_.norm = code_.norm;
  }

  void read_layers() {
    model_.hidden = keys_.need_integer("hidden", {"hidden_size", "n_embd", "d_model"}, kWidest);
    const std::optional<std::int64_t> layers =
        keys_.take_integer("layers", {"num_hidden_layers", "n_layer", "num_layers"}, 1, kMostLayers);
    if (layers) {
      model_.layers = *layers;
    } else if (const auto blocks = keys_.texts({"layers_block_type"});
               blocks && !blocks->empty() && blocks->size() <= kMostLayers) {
      model_.layers = static_cast<std::int64_t>(blocks->size());
      keys_.take("layers", model_.layers);
    } else {
      throw keys_.error("num_hidden_layers", "is missing; a model has layers");
    }
    model_.output_norm = code_.output_norm;
    if (code_.output_norm) keys_.assume("output_norm", true, code_.text());
  }

  void read_attention() {
    model_.heads = keys_.need_integer("heads", {"num_attention_heads", "n_head", "num_heads"}, kMostLayers);
    const std::optional<bool> is_single = keys_.flag({"multi_query"});
    if (const auto kv =
            keys_.take_integer("kv_heads", {"num_key_value_heads", "num_kv_heads"}, 1, kMostLayers)) {
      model_.kv_heads = *kv;
    } else {
      model_.kv_heads = is_single.value_or(false) ? 1 : model_.heads;
      keys_.assume("kv_heads", model_.kv_heads, "no num_key_value_heads: as many as query heads");
    }
    if (model_.heads % model_.kv_heads != 0)
      throw keys_.error("num_key_value_heads",
                        fmt::format("must divide the {} heads (it is {})", model_.heads, model_.kv_heads));
    read_latent();
    if (model_.latent) {
      keys_.find({"head_dim"});
    } else if (const auto dim = keys_.take_integer(
                   "head_dim", {"head_dim", "attention_head_dim", "kv_channels"}, 1, kWidest)) {
      model_.own_head_dim = *dim;
    } else if (model_.hidden % model_.heads != 0) {
      throw keys_.error("head_dim",
                        fmt::format("is missing, and {} heads do not divide hidden_size, which is {}",
                                    model_.heads, model_.hidden));
    }
    read_head_norm();
    read_biases();
    model_.attention_sinks = code_.attention_sinks;
    if (code_.attention_sinks) keys_.assume("attention_sinks", true, code_.text());
  }

  void read_latent() {
    if (!keys_.find({"kv_lora_rank"})) return;
    LatentDimensions latent;
    latent.query_rank = keys_.take_integer("latent.query_rank", {"q_lora_rank"}, 1, kWidest).value_or(0);
    latent.kv_rank = keys_.need_integer("latent.kv_rank", {"kv_lora_rank"}, kWidest);
    latent.plain_dim = keys_.need_integer("latent.plain_dim", {"qk_nope_head_dim"}, kWidest);
    latent.rotated_dim = keys_.need_integer("latent.rotated_dim", {"qk_rope_head_dim"}, kWidest);
    latent.value_dim = keys_.need_integer("latent.value_dim", {"v_head_dim"}, kWidest);
    model_.latent = latent;
  }

  void read_head_norm() {
    const std::optional<bool> said = keys_.flag({"use_qk_norm", "qk_layernorm"});
    const bool has_weights = code_.type != "llama4_text";
    if (said && !has_weights) keys_.ignore_last("norms of queries and keys without weights, not modelled");
    model_.head_norm = said ? *said && has_weights : code_.head_norm;
    if (said && has_weights)
      keys_.take("head_norm", *said);
    else if (code_.head_norm)
      keys_.assume("head_norm", true, code_.text());
    if (const auto kind = keys_.find({"qk_norm_type"}))
      keys_.ignore_last("norms of all heads together are counted head by head");
  }

  void read_biases() {
    model_.biases = code_.biases;
    if (code_.biases) keys_.assume("biases", true, code_.text());
    for (const char* const key : {"attention_bias", "mlp_bias", "use_bias", "bias"}) {
      const std::optional<bool> said = keys_.flag({key});
      if (!said) continue;
      const std::string why = code_.biases ? "all projections have biases by the model's code"
                              : *said      ? "not modelled: biases of some projections, below 0.1 % of a model"
                                           : "biases there are none, as is taken where no key says otherwise";
      keys_.ignore_last(why);
    }
  }

  void read_feed_forward() {
    const std::optional<std::string> name =
        keys_.text({"hidden_act", "hidden_activation", "activation_function", "mlp_hidden_act"});
    const std::optional<Activation> function = name ? activation_named(*name) : Activation::silu;
    if (!function)
      throw keys_.error_at_last(
          fmt::format("\"{}\" is no function that is known; known: silu, gelu, "
                      "gelu_new, gelu_pytorch_tanh, relu, relu2",
                      *name));
    model_.activation = *function;
    if (name) keys_.take("activation", name_of(*function));
    if (name && *name == "relu2")
      keys_.ignore_last("the square behind it is not modelled: one product for each value");
    if (!name) keys_.assume("activation", name_of(*function), code_.text());
    model_.gated = code_.gated;
    keys_.assume("gated", code_.gated, code_.text());
  }

  static std::optional<Activation> activation_named(std::string_view name) {
    if (name == "silu" || name == "swish") return Activation::silu;
    if (name == "gelu" || name == "gelu_python") return Activation::gelu;
    if (name == "gelu_new" || name == "gelu_pytorch_tanh" || name == "gelu_fast") return Activation::gelu_tanh;
    if (name == "relu" || name == "relu2") return Activation::relu;
    return std::nullopt;
  }

  void read_experts() {
    model_.experts = read_hugging_face_experts(keys_, code_, model_.layers);
    const auto ffn = keys_.take_integer(
        "ffn", {"intermediate_size_mlp", "intermediate_size", "ffn_dim", "n_inner", "ffn_hidden_size"}, 1,
        kWidest);
    if (ffn) {
      model_.ffn = *ffn;
    } else if (model_.experts) {
      model_.ffn = model_.experts->width;
      keys_.assume("ffn", model_.ffn, "no intermediate_size: all feed-forward layers are experts");
    } else {
      model_.ffn = 4 * model_.hidden;
      if (static_cast<double>(model_.ffn) > kWidest) throw keys_.error("intermediate_size", "is missing");
      keys_.assume("ffn", model_.ffn, "no intermediate_size: four times the width, as GPT-2 has it");
    }
  }

  void read_vocabulary() {
    model_.vocabulary = keys_.need_integer("vocabulary", {"vocab_size"}, kMostTokens);
    if (code_.learned_positions)
      model_.positions =
          keys_.need_integer("positions", {"n_positions", "max_position_embeddings", "n_ctx"}, kMostTokens);
    read_tied();
    const std::optional<std::string> inner = keys_.text({"torch_dtype", "dtype"});
    const std::string from = keys_.last();
    const std::optional<std::string> type = inner              ? inner
                                            : wrapper_.empty() ? std::nullopt
                                                               : outer_.text({"torch_dtype", "dtype"});
    if (!type) return keys_.assume("dtype", "bf16", "no torch_dtype: as models are trained since 2022");
    const std::string_view ours = type_named(*type);
    if (ours.empty()) {
      keys_.ignore(inner ? from : outer_.last(), fmt::format("'{}' is no type in which layers compute", *type));
      return keys_.assume("dtype", "bf16", "as models are trained since 2022");
    }
    keys_.take_from(inner ? from : outer_.last(), "dtype", ours);
  }

  /// Empty for a type of weights only, such as FP8.
  static std::string_view type_named(std::string_view type) {
    return type == "bfloat16" ? "bf16" : type == "float16" ? "fp16" : type == "float32" ? "fp32" : "";
  }

  /// A wrapper's key wins over that of the model inside, as transformers reads it.
  void read_tied() {
    std::optional<bool> tied = keys_.flag({"tie_word_embeddings"});
    std::string from = keys_.last();
    if (!wrapper_.empty()) {
      if (const std::optional<bool> outer = outer_.flag({"tie_word_embeddings"})) {
        if (tied) keys_.ignore(from, "the file's own tie_word_embeddings wins");
        tied = outer;
        from = outer_.last();
      }
    }
    model_.tied_embedding = tied.value_or(code_.tied);
    if (tied)
      keys_.take_from(from, "tied_embedding", *tied);
    else
      keys_.assume("tied_embedding", code_.tied, code_.text());
  }

  void count() {
    const double experts = model_.experts ? static_cast<double>(model_.experts->experts) : 1.0;
    const auto widest =
        static_cast<double>(std::max({model_.hidden, model_.ffn, model_.expert_width(),
                                      model_.heads * std::max(model_.head_dim(), model_.value_dim())}));
    if (static_cast<double>(model_.layers) * experts * static_cast<double>(model_.hidden) * widest >
        kMostParameters)
      throw keys_.error("hidden_size", "and the other sizes make more parameters than can be counted");
    const CountedModel counted = counted_model(model_, keys_, file_.sequence);
    leave_out_images();
    reading_.unmodelled = counted.unmodelled;
    std::string size = fmt::format("{:.2f} G parameters", 1e-9 * counted.parameters);
    if (model_.experts)
      size += fmt::format(", {:.2f} G of them active for a token", 1e-9 * counted.active_parameters);
    reading_.facts.push_back(std::move(size));
    const auto is_much = [](const UnmodelledPart& part) {
      return std::max(part.parameters, part.flops) > kUsualLeaveOut;
    };
    const auto cached = [&](std::int64_t tokens) { return 1e-9 * cached_bytes(model_, tokens).value; };
    if (std::ranges::none_of(reading_.unmodelled, is_much))
      reading_.facts.push_back(fmt::format("decoding keeps {:.3g} GB of a sequence of {} tokens, {:.3g} of {}",
                                           cached(kShortSequence), kShortSequence, cached(kLongSequence),
                                           kLongSequence));
    keys_.assume("name", fmt::format("{}-{:.1f}b", slug(type_), 1e-9 * counted.parameters),
                 "its model_type and billions of parameters");
  }

  /// Steps are of text, which does not go through the encoder of images.
  void leave_out_images() {
    const std::optional<JsonKeys::Found> found = outer_.find({"vision_config"});
    if (!found || !found->value->is_object()) return;
    const auto size_named = [&](std::initializer_list<std::string_view> names) {
      for (const std::string_view name : names)
        if (found->value->contains(name) && (*found->value)[name].is_integer())
          return (*found->value)[name].number();
      return 0.0;
    };
    const double width = size_named({"hidden_size", "vt_hidden_size"});
    const double blocks = size_named({"depth", "num_hidden_layers", "vt_num_hidden_layers"});
    const double own =
        blocks * width * (4.0 * width + 2.0 * size_named({"intermediate_size", "vt_intermediate_size"}));
    keys_.ignore(outer_.last(),
                 fmt::format("the encoder of images, about {:.2f} G parameters: text does not go "
                             "through it",
                             1e-9 * own));
  }

  bool is_listed(const std::string& from) const {
    return std::ranges::find(reading_.taken, from, &TakenKey::from) != reading_.taken.end() ||
           std::ranges::find(reading_.ignored, from, &IgnoredKey::from) != reading_.ignored.end();
  }

  void ignore_rest() {
    const auto ignore = [&](const std::string& from, const std::string& key, const char* otherwise) {
      if (key != wrapper_ && !is_listed(from)) keys_.ignore(from, why_ignored(key).value_or(otherwise));
    };
    const auto ignore_all = [&](const JsonKeys& keys) {
      for (const std::string& key : keys.read())
        ignore(keys.dotted(key), key, "of a part that is not modelled or not there");
      for (const std::string& key : keys.unread())
        ignore(keys.dotted(key), key, "unknown to this reader");
    };
    if (!wrapper_.empty()) ignore_all(outer_);
    ignore_all(keys_);
  }

  const ForeignFile& file_;
  const Json json_;
  JsonKeys outer_;
  std::string_view wrapper_;  ///< the key of the model in a file that holds more; empty: the file is the model
  FileReading reading_{.file = file_.name, .what = std::string(kHuggingFaceFile)};
  ModelKeys keys_;
  std::string type_;
  ModelCode code_{.type = "llama", .source = "llama"};
  ModelDimensions model_;
};

}  // namespace

bool is_hugging_face(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || text[first] != '{') return false;
  const auto has = [&](std::string_view key) { return text.find(key) != std::string_view::npos; };
  return (has("\"model_type\"") || has("\"architectures\"")) &&
         (has("\"hidden_size\"") || has("\"n_embd\"") || has("\"d_model\""));
}

FileReading read_hugging_face(const ForeignFile& file) { return HuggingFaceReader(file).read(); }

}}  // namespace c3::configs
