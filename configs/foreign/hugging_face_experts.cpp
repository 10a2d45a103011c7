#include "configs/foreign/hugging_face_experts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "configs/fields/model_fields.hpp"

namespace c3 { inline namespace configs {
namespace {

class ExpertReader {
 public:
  ExpertReader(ModelKeys& keys, const ModelCode& code, std::int64_t layers)
      : keys_(keys), code_(code), layers_(layers) {}

  std::optional<ExpertDimensions> read() {
    const std::optional<std::int64_t> count = keys_.integer(
        {"num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts"}, 0, kMostLayers);
    if (!count || *count == 0) return std::nullopt;
    experts_.experts = *count;
    keys_.take("experts.count", *count);
    experts_.per_token = keys_.need_integer(
        "experts.per_token",
        {"num_experts_per_tok", "experts_per_token", "top_k_experts", "moe_top_k", "num_experts_per_token"},
        kMostLayers);
    if (experts_.per_token > *count)
      throw keys_.error_at_last(
          fmt::format("must not exceed the {} experts (it is {})", *count, experts_.per_token));
    // For llama4, `intermediate_size` is an expert's width, and another key has that of layers without experts.
    const bool is_split = keys_.find({"intermediate_size_mlp"}).has_value();
    if (const auto width =
            keys_.take_integer("experts.width", {"moe_intermediate_size", "moe_ffn_hidden_size"}, 1, kWidest))
      experts_.width = *width;
    else
      experts_.width = keys_.need_integer("experts.width", {"intermediate_size"}, kWidest);
    if (const auto latent = keys_.take_integer("experts.latent_width", {"moe_latent_size"}, 1, kWidest))
      experts_.latent_width = *latent;
    read_shared_width(is_split);
    read_expert_layers();
    read_router();
    return experts_;
  }

 private:
  void read_shared_width(bool is_split) {
    const std::optional<std::int64_t> count =
        keys_.integer({"n_shared_experts", "num_shared_experts"}, 0, kMostLayers);
    const std::string counted = keys_.last();
    if (const auto width = take_shared()) {
      experts_.shared_width = *width;
    } else if (count && *count > 0) {
      experts_.shared_width = *count * experts_.width;
      keys_.take_from(counted, "experts.shared_width", experts_.shared_width);
      return;
    } else if (is_split) {
      experts_.shared_width = experts_.width;
      keys_.assume("experts.shared_width", experts_.width, code_.text());
    }
    if (count) keys_.ignore(counted, "the width of shared experts is said, or there are none");
  }

  std::optional<std::int64_t> take_shared() {
    // Gemma 4's dense feed-forward block runs beside the experts, on all tokens.
    if (keys_.flag({"enable_moe_block"}).value_or(false)) {
      const std::string from = keys_.last();
      const std::int64_t width =
          keys_.integer({"intermediate_size"}, 1, static_cast<std::int64_t>(kWidest)).value_or(0);
      if (width > 0) keys_.take_from(from, "experts.shared_width", width);
      if (width > 0) return width;
    }
    const std::optional<std::int64_t> width =
        keys_.integer({"shared_expert_intermediate_size", "moe_shared_expert_intermediate_size",
                       "shared_intermediate_size", "share_expert_dim"},
                      0, static_cast<std::int64_t>(kWidest));
    if (!width) return std::nullopt;
    if (*width == 0) {
      keys_.ignore_last("there are no shared experts");
      return std::nullopt;
    }
    keys_.take("experts.shared_width", *width);
    return width;
  }

  void read_expert_layers() {
    if (const auto first = keys_.integer({"first_k_dense_replace"}, 0, layers_ - 1)) {
      experts_.dense_layers = *first;
      keys_.take("experts.dense_layers", *first);
    }
    if (const auto kinds = keys_.texts({"mlp_layer_types"})) check_kinds(*kinds);
    if (const auto every =
            keys_.integer({"interleave_moe_layer_step", "decoder_sparse_step", "moe_layer_freq"}, 1, layers_)) {
      experts_.interval = *every;
      if (layers_ % *every != 0)
        throw keys_.error_at_last(fmt::format("must divide the {} layers (it is {})", layers_, *every));
      keys_.take("experts.interval", *every);
    }
    if (const auto dense = keys_.find({"mlp_only_layers"})) {
      if (dense->value->size() > 0)
        throw keys_.error("mlp_only_layers",
                          "names layers without experts, which can only be the first ones here: write "
                          "first_k_dense_replace in its place where they are");
      keys_.ignore_last("it names no layer");
    }
  }

  void check_kinds(const std::vector<std::string>& kinds) {
    const auto first = std::ranges::find(kinds, "sparse");
    const std::int64_t dense = first - kinds.begin();
    if (std::find(first, kinds.end(), "dense") != kinds.end() || dense >= layers_)
      throw keys_.error("mlp_layer_types",
                        "has a dense layer behind one with experts; only the first layers can be dense");
    if (experts_.dense_layers == 0 && dense > 0) {
      experts_.dense_layers = dense;
      keys_.take("experts.dense_layers", dense);
    } else {
      keys_.ignore(keys_.dotted("mlp_layer_types"), "says what first_k_dense_replace says");
    }
  }

  void read_router() {
    if (const auto groups = keys_.integer({"n_group"}, 1, experts_.experts)) {
      experts_.groups = *groups;
      if (experts_.experts % *groups != 0)
        throw keys_.error_at_last(
            fmt::format("must divide the {} experts (it is {})", experts_.experts, *groups));
      keys_.take("experts.groups", *groups);
    }
    if (const auto groups = keys_.integer({"topk_group"}, 1, experts_.groups)) {
      experts_.groups_per_token = *groups;
      keys_.take("experts.groups_per_token", *groups);
    }
    const std::optional<std::string> scores = keys_.text({"scoring_func"});
    experts_.scores = scores && *scores == "softmax" ? RouterScores::softmax
                      : scores ? RouterScores::sigmoid  // sqrtsoftplus as well: of each by itself
                               : code_.scores;
    if (scores)
      keys_.take("experts.scores", name_of(experts_.scores));
    else
      keys_.assume("experts.scores", name_of(experts_.scores), code_.text());
    read_router_bias();
  }

  void read_router_bias() {
    if (const auto method = keys_.text({"topk_method"})) {
      experts_.router_bias = *method == "noaux_tc";
      keys_.take("experts.router_bias", experts_.router_bias);
    } else if (const auto flag = keys_.flag({"use_routing_bias", "use_moe_router_bias"})) {
      experts_.router_bias = *flag;
      keys_.take("experts.router_bias", *flag);
    } else if (code_.biases) {
      experts_.router_bias = true;
      keys_.assume("experts.router_bias", true, code_.text());
    }
  }

  ModelKeys& keys_;
  const ModelCode& code_;
  std::int64_t layers_;
  ExpertDimensions experts_;
};

}  // namespace

std::optional<ExpertDimensions> read_hugging_face_experts(ModelKeys& keys, const ModelCode& code,
                                                          std::int64_t layers) {
  return ExpertReader(keys, code, layers).read();
}

}}  // namespace c3::configs
