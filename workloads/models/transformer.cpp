#include "workloads/models/transformer.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "workloads/models/blocks/attention_block.hpp"

namespace c3 { inline namespace workloads {
namespace {

enum class FeedForward : std::uint8_t { none, dense, experts };

/// Empty where the model has no pattern.
std::string_view name_in_pattern(const ModelDimensions& model, std::int64_t layer) {
  const auto size = std::ssize(model.layer_pattern);
  return size == 0 ? std::string_view() : model.layer_pattern[static_cast<std::size_t>(layer % size)];
}

FeedForward feed_forward_of(const ModelDimensions& model, std::int64_t layer) {
  if (!model.blocks_apart)
    return model.experts && model.experts->are_in(layer) ? FeedForward::experts : FeedForward::dense;
  const std::string_view name = name_in_pattern(model, layer);
  return name == kDenseBlock     ? FeedForward::dense
         : name == kExpertsBlock ? FeedForward::experts
                                 : FeedForward::none;
}

/// Writes the parts of a model of given dimensions.
class TransformerParts {
 public:
  explicit TransformerParts(const ModelDimensions& model) : model_(model) {}

  Stack stack(bool is_causal, bool is_second) const;
  std::vector<ModelPart> head(ModelHead head, std::int64_t predictions) const;

 private:
  std::vector<ModelPart> start(bool is_second) const;
  std::vector<ModelPart> attention(BlockId block, bool is_causal) const;
  std::vector<ModelPart> dense(std::int64_t inputs, std::int64_t width,
                               BlockId block = BlockId::feed_forward) const;
  std::vector<ModelPart> experts() const;
  /// \p inner with the block's norm and residual sum around it.
  std::vector<ModelPart> block(BlockId block, std::vector<ModelPart> inner) const;

  ModelPart norm(BlockId block) const { return {{block, Role::norm}, parts::Norm{model_.norm, model_.hidden}}; }
  ModelPart classes() const {
    return {{BlockId::head, Role::classes}, parts::Classes{.width = model_.hidden, .classes = 2}};
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
  if (!model_.norm_after) {
    const bool is_first = model_.blocks_apart || block != BlockId::feed_forward;
    inner.insert(at(0), {{block, Role::norm},
                         parts::Norm{.formula = model_.norm,
                                     .width = model_.hidden,
                                     .reads_layer_input = is_first && block != BlockId::cross_attention}});
  }
  if (model_.output_norm)
    inner.push_back({{block, Role::output_norm},
                     parts::Norm{.formula = model_.norm, .width = model_.hidden, .is_of_sum = false}});
  inner.push_back({{block, Role::residual}, parts::Residual{model_.hidden}});
  if (model_.norm_after) inner.push_back(norm(block));
  return inner;
}

// Cross-attention stands only in models of two stacks, whose attention is the model's own.
std::vector<ModelPart> TransformerParts::attention(BlockId at, bool is_causal) const {
  return block(at, attention_parts(model_, {.block = at,
                                            .heads = model_.heads,
                                            .kv_heads = model_.kv_heads,
                                            .head_dim = model_.head_dim(),
                                            .is_causal = is_causal}));
}

std::vector<ModelPart> TransformerParts::dense(std::int64_t inputs, std::int64_t width, BlockId block) const {
  return {{{block, Role::gate_up},
           parts::Projection{.inputs = inputs,
                             .outputs = std::vector<std::int64_t>(model_.gated ? 2 : 1, width),
                             .has_bias = model_.biases,
                             .output_is_kept = true}},
          {{block, Role::activation}, parts::Activation{model_.activation, width, model_.gated}},
          {{block, Role::down},
           parts::Projection{.inputs = width, .outputs = {inputs}, .has_bias = model_.biases}}};
}

// Shared experts come first, as Megatron-Core runs them where nothing overlaps with them
// (megatron/core/transformer/moe/moe_layer.py).
std::vector<ModelPart> TransformerParts::experts() const {
  constexpr BlockId kBlock = BlockId::feed_forward;
  const ExpertDimensions& experts = *model_.experts;
  std::vector<ModelPart> parts;
  if (experts.shared_width > 0) parts = dense(model_.hidden, experts.shared_width, BlockId::shared_experts);
  parts.push_back({{kBlock, Role::router},
                   parts::Router{.width = model_.hidden,
                                 .experts = experts.experts,
                                 .per_token = experts.per_token,
                                 .scores = experts.scores,
                                 .has_bias = experts.router_bias,
                                 .has_groups = experts.groups > 1}});
  const auto projection = [&](Role role, std::int64_t inputs, std::int64_t outputs) {
    if (experts.latent_width > 0)
      parts.push_back({{kBlock, role}, parts::Projection{.inputs = inputs, .outputs = {outputs}}});
  };
  projection(Role::compress, model_.hidden, experts.latent_width);
  parts.push_back({{kBlock, Role::experts},
                   parts::Experts{.count = experts.experts,
                                  .capacity = experts.capacity,
                                  .width = model_.routed_width(),
                                  .expert_parts = dense(model_.routed_width(), model_.expert_width()),
                                  .per_token = experts.per_token}});
  projection(Role::widen, experts.latent_width, model_.hidden);
  return parts;
}

Stack TransformerParts::stack(bool is_causal, bool is_second) const {
  std::vector<std::int64_t> all(static_cast<std::size_t>(model_.layers));
  std::iota(all.begin(), all.end(), 0);
  Stack stack{.start = start(is_second), .blocks = {}, .end = {}, .layers = model_.layers};
  const auto push = [&](std::vector<ModelPart> parts, const auto& is_in) {
    std::vector<std::int64_t> layers;
    std::ranges::copy_if(all, std::back_inserter(layers), is_in);
    if (!layers.empty()) stack.blocks.push_back({std::move(parts), std::move(layers)});
  };
  const auto is_any = [](std::int64_t) { return true; };
  if (model_.structure == Structure::encoder_decoder) {
    push(attention(BlockId::self_attention, is_causal), is_any);
    if (is_second) push(attention(BlockId::cross_attention, false), is_any);
  } else {
    for (const BlockDimensions& mixer : mixers_of(model_))
      push(block(mixer.kind->block, mixer.kind->parts(model_, mixer.sizes)),
           [&](std::int64_t layer) { return mixer_of(model_, layer) == mixer; });
  }
  push(block(BlockId::feed_forward, dense(model_.hidden, model_.ffn)),
       [&](std::int64_t layer) { return feed_forward_of(model_, layer) == FeedForward::dense; });
  if (model_.experts)
    push(block(BlockId::feed_forward, experts()),
         [&](std::int64_t layer) { return feed_forward_of(model_, layer) == FeedForward::experts; });
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

std::optional<BlockDimensions> mixer_of(const ModelDimensions& model, std::int64_t layer) {
  const std::string_view name = name_in_pattern(model, layer);
  const auto found = std::ranges::find(model.blocks, name, &BlockDimensions::name);
  if (found != model.blocks.end()) return *found;
  if (model.blocks_apart && name != kOwnAttention) return std::nullopt;
  const BlockKind kind = model.latent ? BlockKind::latent : BlockKind::attention;
  return BlockDimensions{.name = std::string(kOwnAttention), .kind = kind, .sizes = usual_sizes(kind)};
}

Bytes cached_bytes(const ModelDimensions& model, std::int64_t tokens) {
  Bytes cached;
  if (model.structure == Structure::encoder) return cached;
  for (std::int64_t layer = 0; layer < model.layers; ++layer) {
    const std::optional<BlockDimensions> mixer = mixer_of(model, layer);
    if (!mixer) continue;
    const BlockCache cache = mixer->kind->cache(model, mixer->sizes);
    const std::int64_t kept = cache.most_tokens > 0 ? std::min(tokens, cache.most_tokens) : tokens;
    cached += Bytes{static_cast<double>(cache.token_bytes) * static_cast<double>(kept) +
                    static_cast<double>(cache.sequence_bytes)};
  }
  return cached;
}

std::vector<BlockDimensions> mixers_of(const ModelDimensions& model) {
  std::vector<BlockDimensions> mixers;
  const std::int64_t names = std::clamp<std::int64_t>(std::ssize(model.layer_pattern), 1, model.layers);
  for (std::int64_t layer = 0; layer < names; ++layer) {
    std::optional<BlockDimensions> mixer = mixer_of(model, layer);
    if (mixer && std::ranges::find(mixers, *mixer) == mixers.end()) mixers.push_back(std::move(*mixer));
  }
  return mixers;
}

std::int64_t layer_period(const ModelDimensions& model) {
  const std::int64_t interval = model.experts && !model.blocks_apart ? model.experts->interval : 1;
  const std::int64_t names = std::max<std::int64_t>(1, std::ssize(model.layer_pattern));
  const std::int64_t period = std::lcm(interval, names);
  return model.layers % period == 0 ? period : model.layers;
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
