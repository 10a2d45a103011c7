#include "studies/kernels/eager/eager_huggingface.hpp"

#include <algorithm>
#include <numeric>

#include "studies/kernels/eager/huggingface_families.hpp"

namespace c3 { inline namespace studies {

EagerHuggingFace::EagerHuggingFace(EagerFamily family, const StepSetup& setup)
    : EagerTape({.training = setup.training,
                 .fused = setup.fused,
                 .adds_to_gradients = setup.adds_to_gradients,
                 .dtype = setup.dtype}),
      setup_(setup),
      kernels_(kernels_of(family)),
      tokens_(setup.tokens()) {}

void EagerHuggingFace::write_part(const ModelPart& part) {
  std::visit(ByKind{[this](const parts::Embedding& kind) { embedding(kind); },
                    [this](const parts::RelativeBias& kind) { relative_bias(kind); },
                    [this](const parts::Norm& kind) { norm(kind); },
                    [this](const parts::Projection& kind) { projection(kind); },
                    [this](const parts::Attention& kind) { attention(kind); },
                    [this](const parts::Activation& kind) { activation(kind); },
                    [this](const parts::Residual& kind) { residual(kind); },
                    [this](const parts::Dropout& kind) { dropout(kind); },
                    [this](const parts::Router& kind) { router(kind); },
                    [this](const parts::Experts& kind) { experts(kind); },
                    [this](const parts::Classes& kind) { classes(kind); },
                    [this](const parts::Loss& kind) { loss(kind); },
                    // Kinds that it has no kernels for.
                    [this](const auto& /*kind*/) { refuse(); }},
             part.kind);
}

void EagerHuggingFace::embedding(const parts::Embedding& part) {
  const TensorShape tensor = tokens_of(part.width);
  for (std::size_t table = 0; table < part.rows.size(); ++table) {
    look_up(part.rows[table], tensor);
    if (table > 0) vector(VectorOp::add, tensor);
  }
}

// Once a stack: every layer adds the same bias, mask included.
void EagerHuggingFace::relative_bias(const parts::RelativeBias& part) {
  look_up(part.buckets, {setup_.length * setup_.length, part.heads});
  vector(VectorOp::add_scalar, scores_of(part.heads));
}

// A fused norm of a residual sum came with that.
void EagerHuggingFace::norm(const parts::Norm& part) {
  if (setup_.fused && part.is_of_sum) return;
  norm_of(part.formula, tokens_of(part.width));
}

// The backward pass adds what comes through the block to what comes past it.
void EagerHuggingFace::residual(const parts::Residual& part) {
  const TensorShape tensor = tokens_of(part.width);
  drop(tensor);
  if (setup_.fused && !is_before_norm()) {
    // Two tensors in, two out (the sum and its norm): the bytes of a norm of twice the width.
    return forward(VectorOp::layernorm, tokens_of(2 * part.width));
  }
  // A fused norm right behind reads two tensors and writes one, as the sum does.
  vector(VectorOp::add, tensor);
  backward(VectorOp::add, tensor);
}

void EagerHuggingFace::projection(const parts::Projection& part) {
  if (part_is(Role::logits) && kernels_.scales_output) vector(VectorOp::mul_scalar, tokens_of(part.inputs));
  const std::int64_t width = std::accumulate(part.outputs.begin(), part.outputs.end(), std::int64_t{0});
  const auto project = [&](std::int64_t outputs) {
    linear({.tokens = tokens_,
            .outputs = outputs,
            .inputs = part.inputs,
            .has_bias = part.has_bias,
            .is_tied = part.is_tied});
  };
  const bool is_qkv = part_is(Role::qkv);
  if (!is_qkv || (kernels_.one_projection && !part.is_crossed)) {
    project(width);
    if (is_qkv) backward(VectorOp::copy, tokens_of(width));  // three gradients put side by side
    return;
  }
  for (const std::int64_t outputs : part.outputs)
    project(outputs);
  // Three gradients of one input, or two of the other stack's output, which every layer adds to.
  for (std::size_t sum = 1; sum < part.outputs.size(); ++sum)
    backward(VectorOp::add, tokens_of(part.inputs));
}

void EagerHuggingFace::activation(const parts::Activation& part) {
  const TensorShape wide = tokens_of(part.width);
  activate(part.function, wide);
  if (part.is_gated) vector(VectorOp::mul, wide);
  if (part_is(Role::activation) && kernels_.drops_ffn) drop(wide);
}

void EagerHuggingFace::router(const parts::Router& part) {
  const TensorShape choices = tokens_of(part.experts);
  linear({.tokens = tokens_, .outputs = part.experts, .inputs = part.width});
  vector(VectorOp::softmax, choices);
  // Largest probability and its index, one-hot (2), running count (2), within capacity, product, as truth
  // values.
  for (int kernel = 0; kernel < 9; ++kernel)
    forward(VectorOp::copy, choices);
}

void EagerHuggingFace::experts(const parts::Experts& part) {
  const std::int64_t tokens = tokens_;
  const std::int64_t busy = setup_.busy_experts.value_or(part.count);
  const std::int64_t even = (tokens + busy - 1) / busy;
  const std::int64_t taken = part.capacity > 0 ? std::min(part.capacity * setup_.sequences, even) : even;
  begin(Role::dispatch);
  vector(VectorOp::copy, tokens_of(part.width));  // tokens beyond capacity pass by
  times(busy);
  tokens_ = taken;
  vector(VectorOp::copy, tokens_of(part.width));
  write(part.expert_parts);
  begin(Role::combine);
  vector(VectorOp::copy, tokens_of(part.width));
  times(1);
  tokens_ = tokens;
  vector(VectorOp::mul_scalar, tokens_of(part.width));
}

// Forward only: in training no loss is taken of the classes.
void EagerHuggingFace::classes(const parts::Classes& part) {
  const auto gemm = [&](std::int64_t outputs) {
    forward(GemmShape{.m = setup_.sequences, .n = outputs, .k = part.width, .dtype = setup_.dtype});
  };
  gemm(part.width);
  forward(VectorOp::tanh, {setup_.sequences, part.width});
  gemm(part.classes);
}

void EagerHuggingFace::loss(const parts::Loss& part) {
  if (!setup_.training) return;
  const TensorShape logits = tokens_of(part.words);
  forward(VectorOp::softmax, logits);
  backward(VectorOp::softmax, logits, Pass::backward);
  backward(VectorOp::reduce, logits, Pass::backward);  // zeros, but for each token's own word
}

}}  // namespace c3::studies
