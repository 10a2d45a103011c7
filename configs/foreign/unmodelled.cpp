#include "configs/foreign/unmodelled.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "configs/fields/model_fields.hpp"
#include "workloads/models/transformer.hpp"

namespace c3 { inline namespace configs {
namespace {

/// Numbers and flops that a part of the file has, and that what was taken for it has.
struct Part {
  std::string what;
  double parameters = 0.0, flops = 0.0;  ///< a token's, of a forward pass; what is not modelled of the part
  double added_parameters = 0.0;         ///< to those of the dimensions, so that all are the file's
  std::optional<double> added_active = std::nullopt;  ///< of a token; absent: the same
};

class Counter {
 public:
  Counter(const ModelDimensions& model, JsonKeys& keys, JsonKeys& outer, std::int64_t sequence)
      : model_(model), keys_(keys), outer_(outer), sequence_(static_cast<double>(sequence)) {}

  CountedModel count() {
    const Model described = transformer(model_);
    CountedModel counted{.parameters = static_cast<double>(parameters(described)),
                         .active_parameters = static_cast<double>(active_parameters(described)),
                         .unmodelled = {}};
    std::vector<Part> parts;
    for (const auto found : kMechanisms)
      if (std::optional<Part> part = (this->*found)(); part) parts.push_back(std::move(*part));
    for (const Part& part : parts) {
      counted.parameters += part.added_parameters;
      counted.active_parameters += part.added_active.value_or(part.added_parameters);
    }
    const double flops = 2.0 * counted.active_parameters + layers() * attention_flops(0.5 * sequence_);
    for (Part& part : parts)
      counted.unmodelled.push_back({.what = std::move(part.what),
                                    .parameters = part.parameters / counted.parameters,
                                    .flops = std::min(1.0, part.flops / flops)});
    return counted;
  }

 private:
  double layers() const { return static_cast<double>(model_.layers); }
  double hidden() const { return static_cast<double>(model_.hidden); }

  double number(std::initializer_list<std::string_view> names, double usual = 0.0) {
    const std::optional<std::int64_t> found = keys_.integer(names, 0, kMostTokens);
    return found ? static_cast<double>(*found) : usual;
  }

  /// Scores and values of one layer, for a token that sees \p others.
  double attention_flops(double others) const {
    return 2.0 * static_cast<double>(model_.heads * (model_.head_dim() + model_.value_dim())) * others;
  }
  /// Tokens that one sees in the mean, of \p most before it.
  double seen(double most) const {
    return most >= sequence_ ? 0.5 * sequence_ : most * (1.0 - 0.5 * most / sequence_);
  }

  /// Projections of attention in one layer.
  double attention_parameters() const {
    const auto heads = static_cast<double>(model_.heads);
    if (!model_.latent)
      return hidden() * static_cast<double>((2 * model_.heads + 2 * model_.kv_heads) * model_.head_dim());
    const LatentDimensions& its = *model_.latent;
    const auto rank = static_cast<double>(its.query_rank), kv_rank = static_cast<double>(its.kv_rank);
    const double queries = heads * static_cast<double>(model_.head_dim());
    return (rank > 0.0 ? rank * (hidden() + queries) : hidden() * queries) +
           hidden() * (kv_rank + static_cast<double>(its.rotated_dim)) +
           kv_rank * heads * static_cast<double>(its.plain_dim + its.value_dim) +
           heads * static_cast<double>(its.value_dim) * hidden();
  }

  std::vector<std::string> layer_types() {
    if (!layer_types_) layer_types_ = keys_.texts({"layer_types"}).value_or(std::vector<std::string>());
    return *layer_types_;
  }
  double layers_of_type(std::string_view type) {
    return static_cast<double>(std::ranges::count(layer_types(), type));
  }

  std::optional<Part> windows() {
    const double width = number({"sliding_window"});
    const bool is_used = keys_.flag({"use_sliding_window"}).value_or(true);
    const std::optional<JsonKeys::Found> pattern = keys_.find({"sliding_window_pattern"});
    double count = layers_of_type("sliding_attention");
    if (layer_types().empty() && pattern && pattern->value->is_integer() && pattern->value->integer() > 0)
      count = layers() - std::floor(layers() / static_cast<double>(pattern->value->integer()));
    else if (layer_types().empty())
      count = layers();
    const bool is_of_compressed = keys_.find({"compress_ratios"}).has_value();
    if (width == 0.0 || !is_used || is_of_compressed || count == 0.0 || width >= sequence_) return std::nullopt;
    return Part{.what = fmt::format("windows of {} tokens in {} of {} layers", width, count, layers()),
                .flops = count * (attention_flops(0.5 * sequence_) - attention_flops(seen(width)))};
  }

  std::optional<Part> chunks() {
    const double width = number({"attention_chunk_size"});
    if (width == 0.0 || width >= sequence_) return std::nullopt;
    // Every fourth layer sees all, where no list says which (llama4's no_rope_layer_interval).
    const double count = layer_types().empty() ? 0.75 * layers() : layers_of_type("chunked_attention");
    return Part{
        .what = fmt::format("attention within chunks of {} tokens in {} of {} layers", width, count, layers()),
        .flops = count * (attention_flops(0.5 * sequence_) - attention_flops(0.5 * width))};
  }

  /// Gated delta rule: projections to queries, keys, values, gates and decays, a convolution, an output.
  std::optional<Part> linear_attention() {
    const double count = layers_of_type("linear_attention");
    const double key_heads = number({"linear_num_key_heads"}), key_dim = number({"linear_key_head_dim"});
    const double value_heads = number({"linear_num_value_heads"}),
                 value_dim = number({"linear_value_head_dim"});
    const double kernel = number({"linear_conv_kernel_dim"});
    keys_.find({"full_attention_interval"});
    if (count == 0.0) return std::nullopt;
    const double keys = key_heads * key_dim, values = value_heads * value_dim;
    const double own = hidden() * (2.0 * keys + 2.0 * values + 2.0 * value_heads) +
                       kernel * (2.0 * keys + values) + values * hidden();
    return Part{.what = fmt::format("linear attention (gated delta rule) in {} of {} layers", count, layers()),
                .parameters = count * own,
                .flops = count * (2.0 * own + 4.0 * value_heads * key_dim * value_dim),
                .added_parameters = count * (own - attention_parameters())};
  }

  /// MiniMax-01's lightning attention, where its list has a 0.
  std::optional<Part> lightning_attention() {
    const std::optional<JsonKeys::Found> types = keys_.find({"attn_type_list"});
    if (!types || !types->value->is_array()) return std::nullopt;
    const auto count = static_cast<double>(std::ranges::count(types->value->elements(), Json(0)));
    if (count == 0.0) return std::nullopt;
    const double own = count * attention_parameters();
    return Part{.what = fmt::format("lightning attention in {} of {} layers", count, layers()),
                .parameters = own,
                .flops = 2.0 * own + count * attention_flops(0.5 * sequence_)};
  }

  std::optional<Part> output_gate() {
    if (!keys_.flag({"attn_output_gate"}).value_or(false)) return std::nullopt;
    const double count = layer_types().empty() ? layers() : layers_of_type("full_attention");
    const double own = count * hidden() * static_cast<double>(model_.attention_width());
    return Part{
        .what = "gates of attention's outputs", .parameters = own, .flops = 2.0 * own, .added_parameters = own};
  }

  /// Of DeepSeek's sparse attention: scores of an indexer choose the tokens that are attended to.
  std::optional<Part> indexers() {
    const double heads = number({"index_n_heads"}), dim = number({"index_head_dim"}),
                 most = number({"index_topk"});
    const std::optional<std::vector<std::string>> types = keys_.texts({"indexer_types"});
    const double indexers = types ? static_cast<double>(std::ranges::count(*types, "full")) : layers();
    for (const char* const key :
         {"index_topk_freq", "index_topk_pattern", "index_skip_topk_offset", "index_share_for_mtp_iteration"})
      keys_.find({key});
    if (heads == 0.0 || !model_.latent) return std::nullopt;
    const double own = static_cast<double>(model_.latent->query_rank) * heads * dim + hidden() * (dim + heads);
    const double scores = 2.0 * heads * dim * 0.5 * sequence_;
    const double saved = attention_flops(0.5 * sequence_) - attention_flops(seen(most));
    return Part{.what = fmt::format("sparse attention to {} tokens that an indexer chooses", most),
                .parameters = indexers * own,
                .flops = indexers * (2.0 * own + scores) + layers() * saved,
                .added_parameters = indexers * own};
  }

  /// DeepSeek-V4: keys that are values, compressed by ratios of each layer; outputs by groups of low rank;
  /// several residual streams.
  std::optional<Part> compressed_attention() {
    const double rank = number({"o_lora_rank"}), groups = number({"o_groups"}),
                 queries = number({"q_lora_rank"});
    const double streams = number({"hc_mult"});
    for (const char* const key :
         {"compress_ratios", "compress_rope_theta", "qk_rope_head_dim", "num_hash_layers", "hc_sinkhorn_iters"})
      keys_.find({key});
    if (rank == 0.0 || model_.latent) return std::nullopt;
    const auto width = static_cast<double>(model_.attention_width());
    const double own = queries * (hidden() + width) + hidden() * static_cast<double>(model_.head_dim()) +
                       width * rank + groups * rank * hidden();
    return Part{
        .what = fmt::format("compressed attention and {} residual streams in all {} layers", streams, layers()),
        .parameters = layers() * own,
        .flops = layers() * (2.0 * own + attention_flops(0.5 * sequence_)),
        .added_parameters = layers() * (own - attention_parameters())};
  }

  /// Gemma 4: heads of other widths in layers that see all tokens, whose keys are their values.
  std::optional<Part> unlike_heads() {
    const double dim = number({"global_head_dim"}), kv_heads = number({"num_global_key_value_heads"});
    const bool shares = keys_.flag({"attention_k_eq_v"}).value_or(false);
    for (const char* const key : {"num_kv_shared_layers", "hidden_size_per_layer_input",
                                  "vocab_size_per_layer_input", "use_double_wide_mlp"})
      keys_.find({key});
    const double count = layers_of_type("full_attention");
    if (dim == 0.0 || count == 0.0) return std::nullopt;
    const double own =
        hidden() * dim * (2.0 * static_cast<double>(model_.heads) + (shares ? 1.0 : 2.0) * kv_heads);
    return Part{.what = fmt::format("heads of {} elements in {} of {} layers", dim, count, layers()),
                .parameters = count * own,
                .flops = count * 2.0 * own,
                .added_parameters = count * (own - attention_parameters())};
  }

  /// Gemma 4: a dense feed-forward block beside the experts of each layer.
  std::optional<Part> dense_beside_experts() {
    if (!keys_.flag({"enable_moe_block"}).value_or(false)) return std::nullopt;
    const double own = layers() * 3.0 * hidden() * static_cast<double>(model_.ffn);
    return Part{.what = "dense feed-forward blocks beside the experts",
                .parameters = own,
                .flops = 2.0 * own,
                .added_parameters = own};
  }

  /// Nemotron-H: a layer is one block, of Mamba-2, attention, feed-forward or experts.
  std::optional<Part> single_blocks() {
    std::string letters = keys_.text({"hybrid_override_pattern"}).value_or("");
    for (const std::string& type : keys_.texts({"layers_block_type"}).value_or(std::vector<std::string>()))
      letters += type == "mamba" ? 'M' : type == "attention" ? '*' : type == "moe" ? 'E' : '-';
    const double heads = number({"mamba_num_heads"}), state = number({"ssm_state_size"}),
                 groups = number({"n_groups"});
    const double inner = heads * number({"mamba_head_dim"}), latent = number({"moe_latent_size"}, hidden());
    for (const char* const key :
         {"chunk_size", "conv_kernel", "expand", "mamba_hidden_act", "mamba_proj_bias", "use_conv_bias",
          "use_mamba_kernels", "time_step_floor", "time_step_limit", "time_step_max", "time_step_min",
          "time_step_rank", "moe_shared_expert_overlap"})
      keys_.find({key});
    if (letters.empty()) return std::nullopt;
    const double mamba = hidden() * (3.0 * inner + 2.0 * groups * state + heads);
    const double matrices = model_.gated ? 3.0 : 2.0;
    const auto of_layers = [&](double experts) {
      double sum = 0.0;
      for (const char letter : letters)
        sum += letter == 'M'   ? mamba
               : letter == '*' ? attention_parameters()
               : letter == 'E' ? experts
                               : matrices * hidden() * static_cast<double>(model_.ffn);
      return sum;
    };
    const auto of_experts = [&](std::int64_t count) {
      return matrices * (static_cast<double>(count * model_.expert_width()) * latent +
                         static_cast<double>(model_.experts->shared_width) * hidden()) +
             2.0 * hidden() * latent;
    };
    const double own = of_layers(model_.experts ? of_experts(model_.experts->experts) : 0.0);
    const double active = of_layers(model_.experts ? of_experts(model_.experts->per_token) : 0.0);
    const Model described = transformer(model_);
    const auto mambas = std::ranges::count(letters, 'M');
    const double tables =
        (model_.tied_embedding ? 1.0 : 2.0) * hidden() * static_cast<double>(model_.vocabulary);
    return Part{
        .what = fmt::format("layers of one block each, {} of {} of them Mamba-2", mambas, letters.size()),
        .parameters = own,
        .flops = 2.0 * active,
        .added_parameters = own + tables - static_cast<double>(parameters(described)),
        .added_active = active + tables - static_cast<double>(active_parameters(described))};
  }

  std::optional<Part> encoder_of_images() {
    const std::optional<JsonKeys::Found> found = outer_.find({"vision_config"});
    if (!found || !found->value->is_object()) return std::nullopt;
    const auto of = [&](std::initializer_list<std::string_view> names) {
      for (const std::string_view name : names)
        if (found->value->contains(name) && (*found->value)[name].is_integer())
          return (*found->value)[name].number();
      return 0.0;
    };
    const double width = of({"hidden_size", "vt_hidden_size"});
    const double blocks = of({"depth", "num_hidden_layers", "vt_num_hidden_layers"});
    const double own = blocks * width * (4.0 * width + 2.0 * of({"intermediate_size", "vt_intermediate_size"}));
    return Part{
        .what = fmt::format(
            "the encoder of images, of about {:.2f} G parameters, which text does not go through", 1e-9 * own),
        .parameters = own,
        .added_parameters = 0.0};
  }

  using Mechanism = std::optional<Part> (Counter::*)();
  static constexpr std::array<Mechanism, 11> kMechanisms = {&Counter::windows,
                                                            &Counter::chunks,
                                                            &Counter::linear_attention,
                                                            &Counter::lightning_attention,
                                                            &Counter::output_gate,
                                                            &Counter::indexers,
                                                            &Counter::compressed_attention,
                                                            &Counter::unlike_heads,
                                                            &Counter::dense_beside_experts,
                                                            &Counter::single_blocks,
                                                            &Counter::encoder_of_images};

  const ModelDimensions& model_;
  JsonKeys &keys_, &outer_;
  double sequence_;
  std::optional<std::vector<std::string>> layer_types_;
};

}  // namespace

CountedModel counted_model(const ModelDimensions& model, JsonKeys& keys, JsonKeys& outer,
                           std::int64_t sequence) {
  return Counter(model, keys, outer, sequence).count();
}

}}  // namespace c3::configs
