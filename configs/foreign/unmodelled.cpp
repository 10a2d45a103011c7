#include "configs/foreign/unmodelled.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
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
  double added_parameters = 0.0;         ///< added to those of the dimensions, so that all are the file's
  std::optional<double> added_active = std::nullopt;  ///< active for a token; absent: the same
};

class Counter {
 public:
  Counter(const ModelDimensions& model, JsonKeys& keys, std::int64_t sequence)
      : model_(model), keys_(keys), sequence_(static_cast<double>(sequence)) {}

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
    const double flops = 2.0 * counted.active_parameters + attention_flops_of_layers();
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

  /// Attention flops of all layers, each by what its block lets a token see; a recurrence sees none.
  double attention_flops_of_layers() const {
    double flops = 0.0;
    for (std::int64_t layer = 0; layer < model_.layers; ++layer) {
      const std::optional<BlockDimensions> block = mixer_of(model_, layer);
      const bool attends = block && (block->kind == BlockKind::attention || block->kind == BlockKind::latent ||
                                     block->kind == BlockKind::sparse_latent);
      if (!attends) continue;
      const auto window = static_cast<double>(std::max(size_of(*block, "window"), size_of(*block, "selected"))),
                 chunk = static_cast<double>(size_of(*block, "chunk"));
      flops += attention_flops(window > 0.0  ? seen(window)
                               : chunk > 0.0 ? 0.5 * std::min(chunk, sequence_)
                                             : 0.5 * sequence_);
    }
    return flops;
  }

  /// Projections of attention in one layer.
  double attention_parameters() const {
    const auto heads = static_cast<double>(model_.heads);
    if (!model_.latent)
      return hidden() * static_cast<double>((2 * model_.heads + 2 * model_.kv_heads) * model_.head_dim());
    const LatentDimensions& sizes = *model_.latent;
    const auto rank = static_cast<double>(sizes.query_rank), kv_rank = static_cast<double>(sizes.kv_rank);
    const double queries = heads * static_cast<double>(model_.head_dim());
    return (rank > 0.0 ? rank * (hidden() + queries) : hidden() * queries) +
           hidden() * (kv_rank + static_cast<double>(sizes.rotated_dim)) +
           kv_rank * heads * static_cast<double>(sizes.plain_dim + sizes.value_dim) +
           heads * static_cast<double>(sizes.value_dim) * hidden();
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

  /// DeepSeek-V4: keys that are values, compressed by ratios of each layer; outputs by groups of low rank;
  /// several residual streams.
  std::optional<Part> compressed_attention() {
    const double rank = number({"o_lora_rank"}), groups = number({"o_groups"}),
                 queries = number({"q_lora_rank"});
    const double streams = number({"hc_mult"});
    for (const char* const key :
         {"compress_ratios", "compress_rope_theta", "qk_rope_head_dim", "num_hash_layers", "hc_sinkhorn_iters",
          "index_n_heads", "index_head_dim", "index_topk"})
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

  /// Gemma 3n's and 4's small models: an embedding of their own for each layer.
  std::optional<Part> embeddings_of_layers() {
    const double width = number({"hidden_size_per_layer_input"}),
                 words = number({"vocab_size_per_layer_input"});
    keys_.find({"use_double_wide_mlp"});
    if (width == 0.0) return std::nullopt;
    const double of_layer = 2.0 * hidden() * width;  // projections to that width and back
    return Part{.what = fmt::format("an embedding of {} elements for each layer", width),
                .parameters = layers() * (words * width + of_layer),
                .flops = layers() * 2.0 * of_layer,
                .added_parameters = layers() * (words * width + of_layer),
                .added_active = layers() * (width + of_layer)};
  }

  std::optional<Part> shared_keys() {
    const double count = number({"num_kv_shared_layers"});
    if (count == 0.0) return std::nullopt;
    const double own = count * hidden() * static_cast<double>(2 * model_.kv_heads * model_.head_dim());
    return Part{.what = fmt::format("keys and values of other layers in {} of {} layers", count, layers()),
                .parameters = own,
                .flops = 2.0 * own,
                .added_parameters = -own};
  }

  using Mechanism = std::optional<Part> (Counter::*)();
  static constexpr std::array<Mechanism, 4> kMechanisms = {
      &Counter::lightning_attention, &Counter::compressed_attention, &Counter::embeddings_of_layers,
      &Counter::shared_keys};

  const ModelDimensions& model_;
  JsonKeys& keys_;
  double sequence_;
};

}  // namespace

CountedModel counted_model(const ModelDimensions& model, JsonKeys& keys, std::int64_t sequence) {
  return Counter(model, keys, sequence).count();
}

}}  // namespace c3::configs
