#include "workloads/models/transformer.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace c3 { inline namespace workloads {
namespace {

/// Writes the parts of a model of given dimensions.
class TransformerParts {
 public:
  explicit TransformerParts(const ModelDimensions& model) : model_(model) {}

  Stack stack(bool is_causal, bool is_second) const;
  std::vector<ModelPart> head(ModelHead head, std::int64_t predictions) const;

 private:
  std::vector<ModelPart> start(bool is_second) const;
  std::vector<ModelPart> attention(BlockId block, bool is_causal) const;
  std::vector<ModelPart> latent_attention() const;
  std::vector<ModelPart> feed_forward(std::vector<ModelPart> inner) const;
  std::vector<ModelPart> dense(std::int64_t width, BlockId block = BlockId::feed_forward) const;
  std::vector<ModelPart> experts() const;
  /// \p inner with the block's norm and residual sum around it.
  std::vector<ModelPart> block(BlockId block, std::vector<ModelPart> inner) const;

  ModelPart norm(BlockId block) const { return {{block, Role::norm}, parts::Norm{model_.norm, model_.hidden}}; }
  ModelPart classes() const {
    return {{BlockId::head, Role::classes}, parts::Classes{.width = model_.hidden, .classes = 2}};
  }
  bool is_rotated() const {
    return model_.positions == 0 && model_.relative_buckets == 0 && !model_.position_keys;
  }

  const ModelDimensions& model_;
};

std::vector<ModelPart> TransformerParts::start(bool is_second) const {
  parts::Embedding embedding{.rows = {model_.vocabulary}, .width = model_.hidden, .is_shared = is_second};
  for (const std::int64_t rows : {model_.positions, model_.token_types})
    if (rows > 0) embedding.rows.push_back(rows);
  std::vector<ModelPart> parts = {{{BlockId::embedding}, embedding}};
  if (model_.norm_after && !model_.position_keys)
    parts.push_back({{BlockId::embedding, Role::norm},
                     parts::Norm{.formula = model_.norm, .width = model_.hidden, .is_of_sum = false}});
  parts.push_back({{BlockId::embedding, Role::dropout}, parts::Dropout{model_.hidden}});
  if (model_.relative_buckets > 0)
    parts.push_back({{BlockId::self_attention, Role::bias},
                     parts::RelativeBias{.buckets = model_.relative_buckets, .heads = model_.heads}});
  return parts;
}

std::vector<ModelPart> TransformerParts::block(BlockId block, std::vector<ModelPart> inner) const {
  const auto at = [&](std::size_t place) { return inner.begin() + static_cast<std::ptrdiff_t>(place); };
  if (!model_.norm_after) inner.insert(at(0), norm(block));
  if (model_.output_norm)
    inner.push_back({{block, Role::output_norm},
                     parts::Norm{.formula = model_.norm, .width = model_.hidden, .is_of_sum = false}});
  inner.push_back({{block, Role::residual}, parts::Residual{model_.hidden}});
  if (model_.norm_after) inner.push_back(norm(block));
  return inner;
}

// What the products before a norm make is kept by that. A norm stands before the projection that reads it.
std::vector<ModelPart> TransformerParts::latent_attention() const {
  constexpr BlockId kBlock = BlockId::self_attention;
  const LatentDimensions& latent = *model_.latent;
  const auto projection = [&](Role role, std::int64_t inputs, std::int64_t outputs) {
    return ModelPart{{kBlock, role},
                     parts::Projection{.inputs = inputs, .outputs = {outputs}, .has_bias = model_.biases}};
  };
  const auto latent_norm = [&](std::int64_t width) {
    return ModelPart{{kBlock, Role::latent_norm},
                     parts::Norm{.formula = model_.norm, .width = width, .is_of_sum = false}};
  };
  const std::int64_t rank = latent.query_rank;
  std::vector<ModelPart> inner;
  if (rank > 0) inner.push_back(projection(Role::compress, model_.hidden, rank));
  inner.push_back(projection(Role::compress, model_.hidden, latent.kv_rank + latent.rotated_dim));
  inner.push_back(latent_norm(latent.kv_rank));
  if (rank > 0) inner.push_back(latent_norm(rank));
  inner.push_back(projection(Role::expand, rank > 0 ? rank : model_.hidden, model_.attention_width()));
  inner.push_back(
      projection(Role::expand_kv, latent.kv_rank, model_.heads * (latent.plain_dim + latent.value_dim)));
  inner.push_back(
      {{kBlock, Role::rope},
       parts::LatentRotation{model_.heads, latent.plain_dim, latent.rotated_dim, latent.value_dim}});
  inner.push_back({{kBlock, Role::attention},
                   parts::Attention{.heads = model_.heads,
                                    .kv_heads = model_.heads,
                                    .head_dim = model_.head_dim(),
                                    .is_causal = true,
                                    .value_dim = latent.value_dim}});
  inner.push_back(projection(Role::out, model_.heads * latent.value_dim, model_.hidden));
  return block(kBlock, std::move(inner));
}

std::vector<ModelPart> TransformerParts::attention(BlockId at, bool is_causal) const {
  const std::int64_t width = model_.attention_width();
  const std::int64_t kv_width = model_.kv_heads * model_.head_dim();
  const bool is_crossed = at == BlockId::cross_attention;
  const bool rotates = is_rotated() && !is_crossed;
  std::vector<ModelPart> inner = {{{at, Role::qkv},
                                   parts::Projection{.inputs = model_.hidden,
                                                     .outputs = {width, kv_width, kv_width},
                                                     .has_bias = model_.biases && !model_.position_keys,
                                                     .is_crossed = is_crossed,
                                                     .output_is_kept = !rotates}}};
  if (model_.head_norm)
    inner.push_back({{at, Role::head_norm},
                     parts::HeadNorm{model_.norm, model_.heads, model_.kv_heads, model_.head_dim()}});
  if (rotates)
    inner.push_back({{at, Role::rope}, parts::Rotation{model_.heads, model_.kv_heads, model_.head_dim()}});
  inner.push_back({{at, Role::attention},
                   parts::Attention{.heads = model_.heads,
                                    .kv_heads = model_.kv_heads,
                                    .head_dim = model_.head_dim(),
                                    .is_causal = is_causal,
                                    .is_biased = model_.relative_buckets > 0,
                                    .has_sinks = model_.attention_sinks,
                                    .position_inputs = model_.position_keys ? model_.hidden : 0}});
  inner.push_back(
      {{at, Role::out},
       parts::Projection{
           .inputs = width, .outputs = {model_.hidden}, .has_bias = model_.biases && !model_.position_keys}});
  return block(at, std::move(inner));
}

std::vector<ModelPart> TransformerParts::dense(std::int64_t width, BlockId block) const {
  return {{{block, Role::gate_up},
           parts::Projection{.inputs = model_.hidden,
                             .outputs = std::vector<std::int64_t>(model_.gated ? 2 : 1, width),
                             .has_bias = model_.biases,
                             .output_is_kept = true}},
          {{block, Role::activation}, parts::Activation{model_.activation, width, model_.gated}},
          {{block, Role::down},
           parts::Projection{.inputs = width, .outputs = {model_.hidden}, .has_bias = model_.biases}}};
}

// Shared experts come first, as Megatron-Core runs them where nothing overlaps with them
// (megatron/core/transformer/moe/moe_layer.py).
std::vector<ModelPart> TransformerParts::experts() const {
  constexpr BlockId kBlock = BlockId::feed_forward;
  const ExpertDimensions& experts = *model_.experts;
  std::vector<ModelPart> parts;
  if (experts.shared_width > 0) parts = dense(experts.shared_width, BlockId::shared_experts);
  parts.push_back({{kBlock, Role::router},
                   parts::Router{.width = model_.hidden,
                                 .experts = experts.experts,
                                 .per_token = experts.per_token,
                                 .scores = experts.scores,
                                 .has_bias = experts.router_bias,
                                 .has_groups = experts.groups > 1}});
  parts.push_back({{kBlock, Role::experts},
                   parts::Experts{.count = experts.experts,
                                  .capacity = experts.capacity,
                                  .width = model_.hidden,
                                  .each = dense(model_.expert_width()),
                                  .per_token = experts.per_token}});
  return parts;
}

Stack TransformerParts::stack(bool is_causal, bool is_second) const {
  std::vector<std::int64_t> all(static_cast<std::size_t>(model_.layers));
  std::iota(all.begin(), all.end(), 0);
  std::vector<std::int64_t> with_experts, without;
  for (const std::int64_t layer : all) {
    const bool is_sparse = model_.experts && model_.experts->are_in(layer);
    (is_sparse ? with_experts : without).push_back(layer);
  }

  Stack stack{.start = start(is_second), .blocks = {}, .end = {}, .layers = model_.layers};
  stack.blocks.push_back(
      {model_.latent ? latent_attention() : attention(BlockId::self_attention, is_causal), all});
  if (is_second) stack.blocks.push_back({attention(BlockId::cross_attention, false), all});
  if (!without.empty()) stack.blocks.push_back({block(BlockId::feed_forward, dense(model_.ffn)), without});
  if (!with_experts.empty()) stack.blocks.push_back({block(BlockId::feed_forward, experts()), with_experts});
  if (!model_.norm_after) stack.end.push_back(norm(BlockId::stack_end));
  return stack;
}

// Sequences are classified by the first of their tokens, which may be none of those that are predicted.
std::vector<ModelPart> TransformerParts::head(ModelHead head, std::int64_t predictions) const {
  if (head == ModelHead::classifier) return {classes()};
  constexpr BlockId kHead = BlockId::head;
  std::vector<ModelPart> parts;
  const bool is_pretraining = head == ModelHead::pretraining;
  if (is_pretraining) parts.push_back(classes());
  if (predictions > 0)
    parts.push_back({{kHead, Role::pick}, parts::Picked{.width = model_.hidden, .of_sequence = predictions}});
  if (is_pretraining) {
    constexpr PartId kTransform = {kHead, Role::transform};
    parts.push_back(
        {kTransform,
         parts::Projection{.inputs = model_.hidden, .outputs = {model_.hidden}, .has_bias = model_.biases}});
    parts.push_back({kTransform, parts::Activation{model_.activation, model_.hidden}});
    parts.push_back(
        {kTransform, parts::Norm{.formula = model_.norm, .width = model_.hidden, .is_of_sum = false}});
  }
  parts.push_back({{kHead, Role::logits},
                   parts::Projection{.inputs = model_.hidden,
                                     .outputs = {model_.vocabulary},
                                     .has_bias = is_pretraining,
                                     .is_tied = model_.tied_embedding}});
  parts.push_back({{BlockId::loss}, parts::Loss{model_.vocabulary}});
  return parts;
}

}  // namespace

Model transformer(const ModelDimensions& model, ModelHead head, std::int64_t predictions) {
  const TransformerParts parts(model);
  const bool has_two_stacks = model.structure == Structure::encoder_decoder;
  Model whole{.name = model.name, .stacks = {}, .head = parts.head(head, predictions)};
  whole.stacks.push_back(parts.stack(model.structure == Structure::decoder, false));
  if (has_two_stacks) whole.stacks.push_back(parts.stack(true, true));
  return whole;
}

std::vector<ModelPart> layer_of(const Stack& stack, std::int64_t layer) {
  std::vector<ModelPart> parts;
  for (const Block& block : stack.blocks) {
    if (std::ranges::find(block.layers, layer) == block.layers.end()) continue;
    parts.insert(parts.end(), block.parts.begin(), block.parts.end());
  }
  return parts;
}

namespace {

/// \p count of each part of \p model, summed up.
template <typename Count>
std::int64_t sum_over_parts(const Model& model, Count count) {
  std::int64_t sum = count(model.head);
  for (const Stack& stack : model.stacks) {
    sum += count(stack.start) + count(stack.end);
    for (const Block& block : stack.blocks)
      sum += static_cast<std::int64_t>(block.layers.size()) * count(block.parts);
  }
  return sum;
}

}  // namespace

std::int64_t parameters(const Model& model) {
  return sum_over_parts(model, [](std::span<const ModelPart> parts) { return parameters(parts); });
}

std::int64_t active_parameters(const Model& model) {
  return sum_over_parts(model, [](std::span<const ModelPart> parts) { return active_parameters(parts); });
}

}}  // namespace c3::workloads
