#include "workloads/models/step_operators.hpp"

#include <algorithm>
#include <stdexcept>

#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "gpu/kernels/vector/vector_shape.hpp"
#include "workloads/models/eager_huggingface.hpp"

namespace c3 {
StepOperators StepWriter::write() {
  const bool two_stacks = model_.structure == Structure::encoder_decoder;
  embeddings();
  layers(model_.structure == Structure::decoder, false);
  if (two_stacks) {
    embeddings();
    layers(true, true);
  }
  head();
  return tape_.take();
}

void StepWriter::embeddings() {
  tape_.embedding("embedding", model_.vocabulary, hidden());
  for (const std::int64_t table : {model_.positions, model_.token_types}) {
    if (table == 0) continue;
    tape_.embedding("embedding", table, hidden());
    tape_.vector("embedding", VectorOp::add, hidden());
  }
  if (model_.norm_after) tape_.norm("embedding", model_.norm, hidden());
  tape_.dropout("embedding", hidden());
}

void StepWriter::layers(bool causal, bool crossed) {
  relative_bias();
  tape_.times(model_.layers);
  self_attention(causal);
  if (crossed) cross_attention();
  const std::int64_t sparse = model_.experts ? model_.layers / model_.experts->interval : 0;
  tape_.times(model_.layers - sparse);
  block_start("mlp.norm");
  feed_forward(setup_.tokens());
  block_end("mlp.residual");
  if (sparse > 0) experts(sparse);
  tape_.times(1);
  // A fused norm came with the last residual sum.
  if (!model_.norm_after && !setup_.fused) tape_.norm("final.norm", model_.norm, hidden());
}

void StepWriter::block_start(const std::string& part) {
  if (!model_.norm_after && !setup_.fused) tape_.norm(part, model_.norm, hidden());
}

// The backward pass adds what comes through the block to what comes past it.
void StepWriter::block_end(const std::string& part) {
  tape_.dropout(part, hidden());
  if (setup_.fused && !model_.norm_after) {
    // Two tensors in, two out (the sum and its norm): the bytes of a norm of twice the width.
    return tape_.forward(part, VectorOp::layernorm, {setup_.tokens(), 2 * model_.hidden});
  }
  tape_.vector(part, VectorOp::add, hidden());
  tape_.backward(part, VectorOp::add, hidden());
  if (model_.norm_after && !setup_.fused) tape_.norm(part, model_.norm, hidden());
}

void StepWriter::feed_forward(std::int64_t tokens) {
  const Rows wide{tokens, model_.ffn};
  linear("mlp.gate_up", tokens, (model_.gated ? 2 : 1) * model_.ffn, model_.hidden);
  tape_.activation("mlp.activation", model_.activation, wide);
  if (model_.gated) tape_.vector("mlp.activation", VectorOp::mul, wide);
  if (kernels_.drops_ffn) tape_.dropout("mlp.activation", wide);
  linear("mlp.down", tokens, model_.hidden, model_.ffn);
}

void StepWriter::experts(std::int64_t layers) {
  const ExpertDimensions& experts = *model_.experts;
  const std::int64_t busy = setup_.busy_experts.value_or(experts.experts);
  const std::int64_t taken = std::min(experts.capacity * setup_.sequences, (setup_.tokens() + busy - 1) / busy);
  tape_.times(layers);
  block_start("mlp.norm");
  const Rows choices{setup_.tokens(), experts.experts};
  tape_.linear("mlp.router", setup_.tokens(), experts.experts, model_.hidden, false);
  tape_.vector("mlp.router", VectorOp::softmax, choices);
  // Largest probability and its index, one-hot (2), running count (2), within capacity, product, as truth
  // values.
  for (int kernel = 0; kernel < 9; ++kernel)
    tape_.forward("mlp.router", VectorOp::copy, choices);
  tape_.vector("mlp.dispatch", VectorOp::copy, hidden());  // tokens beyond capacity pass by
  tape_.times(layers * busy);
  tape_.vector("mlp.dispatch", VectorOp::copy, {taken, model_.hidden});
  feed_forward(taken);
  tape_.vector("mlp.combine", VectorOp::copy, {taken, model_.hidden});
  tape_.times(layers);
  tape_.vector("mlp.combine", VectorOp::mul_scalar, hidden());
  block_end("mlp.residual");
}

void StepWriter::head() {
  const std::int64_t tokens = setup_.tokens();
  switch (setup_.head) {
    case ModelHead::classifier:
      return pooled_classes();
    case ModelHead::pretraining:
      pooled_classes();
      linear("head.transform", tokens, model_.hidden, model_.hidden);
      tape_.activation("head.transform", model_.activation, hidden());
      tape_.norm("head.transform", model_.norm, hidden());
      break;
    case ModelHead::language_model:
      if (model_.structure == Structure::encoder_decoder)
        tape_.vector("head.logits", VectorOp::mul_scalar, hidden());
      break;
  }
  tape_.tied_linear("head.logits", tokens, model_.vocabulary, model_.hidden,
                    setup_.head == ModelHead::pretraining);
  tape_.cross_entropy({tokens, model_.vocabulary});
}

// Forward only: in training no loss is taken of the classes.
void StepWriter::pooled_classes() {
  const auto gemm = [&](std::int64_t outputs) {
    tape_.forward("head.classes",
                  GemmShape{.m = setup_.sequences, .n = outputs, .k = model_.hidden, .dtype = setup_.dtype});
  };
  gemm(model_.hidden);
  tape_.forward("head.classes", VectorOp::tanh, {setup_.sequences, model_.hidden});
  gemm(2);
}

namespace {

void check(const ModelDimensions& model, const StepSetup& setup) {
  const auto fail = [&](const std::string& what) { throw std::invalid_argument(model.name + ": " + what); };
  if (!model.family) fail("has no 'family', which decides which kernels its layers launch");
  if (model.vocabulary == 0) fail("has no 'vocabulary', so its head and embedding have no size");
  if (setup.fused && setup.training) fail("fused operators are supported only in inference");
  const std::int64_t experts = model.experts ? model.experts->experts : 1;
  if (setup.busy_experts.value_or(1) < 1 || setup.busy_experts.value_or(1) > experts) {
    fail("has " + std::to_string(experts) + " experts, of which at least one is busy");
  }
}

}  // namespace

StepOperators step_operators(const ModelDimensions& model, const StepSetup& setup) {
  check(model, setup);
  return StepWriter(model, setup).write();
}

}  // namespace c3
