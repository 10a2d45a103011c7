#include "workloads/models/model_dimensions.hpp"

namespace c3 {
namespace {

std::int64_t linear(const ModelDimensions& model, std::int64_t outputs, std::int64_t inputs) {
  return outputs * inputs + (model.biases ? outputs : 0);
}

std::int64_t norm(const ModelDimensions& model) {
  return model.norm == Norm::layernorm ? 2 * model.hidden : model.hidden;  // weight and bias, or weight
}

std::int64_t attention(const ModelDimensions& model) {
  const std::int64_t width = model.attention_width();
  const std::int64_t kv_width = model.kv_heads * model.head_dim();
  return linear(model, width, model.hidden) + 2 * linear(model, kv_width, model.hidden) +
         linear(model, model.hidden, width) + norm(model);
}

std::int64_t feed_forward(const ModelDimensions& model) {
  return (model.gated ? 2 : 1) * linear(model, model.ffn, model.hidden) +
         linear(model, model.hidden, model.ffn);
}

/// Of all layers of one stack.
std::int64_t feed_forwards(const ModelDimensions& model) {
  const std::int64_t norms = model.layers * norm(model);
  if (!model.experts) return norms + model.layers * feed_forward(model);
  const std::int64_t sparse = model.layers / model.experts->interval;
  const std::int64_t router = model.experts->experts * model.hidden;
  return norms + (model.layers - sparse) * feed_forward(model) +
         sparse * (router + model.experts->experts * feed_forward(model));
}

}  // namespace

std::int64_t parameters(const ModelDimensions& model) {
  const bool two_stacks = model.structure == Structure::encoder_decoder;
  const std::int64_t stacks = two_stacks ? 2 : 1;
  const std::int64_t attentions =
      (two_stacks ? 3 : 1) * model.layers;  // a decoder's layer of two stacks has two
  const std::int64_t heads = model.tied_embedding ? 0 : model.vocabulary;
  const std::int64_t embeddings =
      (model.vocabulary + heads + model.positions + model.token_types) * model.hidden;
  // One norm after the embedding (norm_after) or one at the end of each stack.
  return embeddings + attentions * attention(model) +
         stacks * (feed_forwards(model) + norm(model) + model.relative_buckets * model.heads);
}

}  // namespace c3
