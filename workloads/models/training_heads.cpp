// Heads beside the logits: classes of sequences, and the tokens whose words are predicted.

#include "workloads/models/training_lowering.hpp"

namespace c3 { inline namespace workloads {

// BERT's pooler, a product of one token of each sequence with its hyperbolic tangent, and the product that
// makes classes, with their loss.
void TrainingLowering::classes(const parts::Classes& part) {
  const TensorShape pooled{batch_.sequences, part.width}, classes{batch_.sequences, part.classes};
  const auto product = [&](std::int64_t outputs) {
    return GemmShape{.m = batch_.sequences, .n = outputs, .k = part.width, .dtype = batch_.dtype};
  };
  const auto gradients = [&](std::int64_t outputs) {
    const GemmShape gemm = product(outputs);
    push_backward(c3::backward(gemm)[0]);
    push_backward(c3::backward(gemm)[1]).gradient = size({outputs, part.width});
    backward(VectorOp::reduce, {outputs, batch_.sequences}).gradient = size({outputs, 1});
  };
  forward(product(part.width), size(pooled));
  forward(VectorOp::tanh, pooled, size(pooled));
  forward(product(part.classes));
  forward(VectorOp::softmax, classes, size(classes));

  backward(VectorOp::softmax, classes, Pass::backward);
  gradients(part.classes);
  backward(VectorOp::tanh, pooled, Pass::backward);
  gradients(part.width);
}

// Backward the gradient of all tokens, which is there anyway, is set to zero, and theirs are put into it.
void TrainingLowering::pick(const parts::Picked& part) {
  const TensorShape all = past_blocks(part.width);
  batch_.length = part.of_sequence;
  batch_.between = batch_.tokens();
  const TensorShape picked = tokens_of(part.width);
  forward(VectorOp::embedding, picked, size(picked));
  backward(VectorOp::reduce, all, Pass::backward).output = Bytes{};
  backward(VectorOp::embedding, picked, Pass::backward).output = Bytes{};
}

}}  // namespace c3::workloads
