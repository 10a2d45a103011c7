// What stands before the first layer and after the last one.

#include "gpu/kernels/vector/vector_shape.hpp"
#include "workloads/training/block_writer.hpp"

namespace c3 {

void BlockWriter::embedding() {
  part("embedding");
  const Rows tensor{tokens_, model_.hidden};
  forward(VectorOp::embedding, tensor);
  backward(VectorOp::reduce, {words_, model_.hidden}, Pass::backward);  // zeros, written only: the gradient
  in_place(part_backward_);
  backward(VectorOp::embedding, tensor, Pass::backward);
  part_backward_.back().gradient = size({words_, model_.hidden});
  add_parameters(words_ * model_.hidden);
  for (const std::int64_t table : {model_.positions, model_.token_types}) {
    if (table == 0) continue;
    forward(VectorOp::embedding, tensor);
    forward(VectorOp::add, tensor);
    backward(VectorOp::embedding, tensor, Pass::backward);
    part_backward_.back().gradient = size({table, model_.hidden});
    add_parameters(table * model_.hidden);
  }
  if (!setup_.framework.dropout) return;
  part("embedding.dropout");
  forward(VectorOp::mul_scalar, stream(), Bytes{static_cast<double>(stream().rows * stream().cols)});
  backward(VectorOp::mul_scalar, stream());
}

void BlockWriter::head() {
  norm("final.norm");
  part("head.logits");
  linear({.tokens = tokens_, .outputs = words_, .inputs = model_.hidden});
  if (model_.tied_embedding) {
    block_.parameters -= words_ * model_.hidden;
    --block_.parameter_tensors;
  }
  loss();
}

// The logarithm of the softmax in fp32, and the share of each token's own word; backward zeros but for those.
void BlockWriter::loss() {
  part("loss");
  const Rows logits{tokens_, words_};
  const bool wide = setup_.framework.loss_dtype == DType::fp32;
  if (is(KernelStyle::megatron)) return megatron_loss();
  if (wide) {
    widen(logits);
    forward_wide(VectorOp::softmax, logits, wide_size(logits));
    if (!is(KernelStyle::compiled)) backward_wide(VectorOp::reduce, logits, Pass::backward);
    backward_wide(VectorOp::softmax, logits, Pass::backward);
    narrow_back(logits);
    return;
  }
  forward(VectorOp::softmax, logits, size(logits));
  backward(VectorOp::reduce, logits, Pass::backward);
  backward(VectorOp::softmax, logits, Pass::backward);
}

// As when words are on several ranks: largest logit, difference, exponential, sum, quotient; backward the
// quotient less one at each token's own word, times the gradient. All from the difference on in its memory.
void BlockWriter::megatron_loss() {
  const Rows logits{tokens_, words_};
  widen(logits);
  forward_wide(VectorOp::reduce, logits);
  forward_wide(VectorOp::sub_scalar, logits, wide_size(logits));
  forward_wide(VectorOp::exp, logits);
  in_place(block_.forward);
  forward_wide(VectorOp::reduce, logits);
  forward_wide(VectorOp::div_scalar, logits);
  in_place(block_.forward);
  backward_wide(VectorOp::mul_scalar, logits);
  in_place(part_backward_);
  narrow_back(logits);
}

}  // namespace c3
