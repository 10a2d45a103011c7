// The parts of attention: projections, rotation, and one kernel or products.

#include "gpu/kernels/attention/attention_shape.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "gpu/kernels/vector/vector_shape.hpp"
#include "workloads/training/block_writer.hpp"

namespace c3 {

BlockWriter::Rows BlockWriter::scores() const {
  return {setup_.micro_batch * model_.heads / setup_.tensor_parallel * setup_.sequence, setup_.sequence};
}

bool BlockWriter::repeats_heads() const {
  return !setup_.framework.grouped_heads && model_.kv_heads < model_.heads;
}

void BlockWriter::self_attention() {
  norm("attn.norm");
  part("attn.qkv");
  projections();
  if (model_.positions == 0) rope();
  if (setup_.framework.attention != AttentionCode::products) {
    attention_kernel();
  } else {
    scores_and_values();
  }
  part("attn.out");
  linear({.tokens = tokens_, .outputs = model_.hidden, .inputs = width_, .bias = model_.biases});
  residual("attn.residual");
}

// Without rotation queries, keys and values are kept as they are.
void BlockWriter::projections() {
  const bool kept = model_.positions > 0;
  const auto project = [&](std::int64_t outputs) {
    linear({.tokens = tokens_,
            .outputs = outputs,
            .inputs = model_.hidden,
            .bias = model_.biases,
            .kept = kept ? size({tokens_, outputs}) : Bytes{}});
  };
  if (!setup_.framework.separate_projections) return project(width_ + 2 * kv_width_);
  for (const std::int64_t outputs : {width_, kv_width_, kv_width_})
    project(outputs);
  // Three gradients of one input.
  backward(VectorOp::add, {tokens_, model_.hidden});
  backward(VectorOp::add, {tokens_, model_.hidden});
}

// Complex numbers in fp32 are eager code's; compilers leave them as they are. Values are not rotated.
void BlockWriter::rope() {
  part("attn.rope");
  for (const std::int64_t width : {width_, kv_width_}) {
    const Rows tensor{tokens_, width};
    const Bytes kept = repeats_heads() && width != width_ ? Bytes{} : size(tensor);
    if (is(KernelStyle::megatron)) {
      forward(VectorOp::mul_scalar, tensor, kept);
      backward(VectorOp::mul_scalar, tensor);
      continue;
    }
    widen(tensor);
    forward_wide(VectorOp::mul_scalar, tensor);
    narrow(tensor, kept);
    widen_back(tensor);
    backward_wide(VectorOp::mul_scalar, tensor);
    narrow_back(tensor);
  }
  if (!repeats_heads()) {
    block_.forward.back().kept += size({tokens_, kv_width_});  // the values
    return;
  }
  for (int tensor = 0; tensor < 2; ++tensor) {  // keys and values, once for each query head
    forward(VectorOp::copy, {tokens_, (width_ + kv_width_) / 2}, size(heads()));
    backward(VectorOp::copy, {tokens_, (width_ + kv_width_) / 2});
  }
}

void BlockWriter::attention_kernel() {
  part("attn.kernel");
  const int ranks = setup_.tensor_parallel;
  AttentionShape shape{.batch = setup_.micro_batch,
                       .heads = model_.heads / ranks,
                       .kv_heads = (repeats_heads() ? model_.heads : model_.kv_heads) / ranks,
                       .queries = setup_.sequence,
                       .keys = setup_.sequence,
                       .head_dim = model_.head_dim(),
                       .causal = model_.structure == Structure::decoder,
                       .dtype = setup_.dtype};
  if (setup_.framework.attention == AttentionCode::flash2) shape.kernel = AttentionKernel::flash2;
  const Bytes sums = wide_size({tokens_, shape.heads});  // of exponentials, a number for each row
  forward(shape, size(heads()) + sums);
  block_.forward.back().survives = true;
  shape.pass = Pass::backward;
  backward(shape);
}

void BlockWriter::scores_and_values() {
  const std::int64_t batch = setup_.micro_batch * model_.heads / setup_.tensor_parallel;
  const std::int64_t length = setup_.sequence;
  const std::int64_t width = model_.head_dim();
  const auto product = [&](std::int64_t n, std::int64_t k, Bytes kept) {
    const GemmShape gemm{.m = length, .n = n, .k = k, .dtype = setup_.dtype, .batch = batch};
    forward(gemm, kept);
    for (const GemmShape& gradient : c3::backward(gemm))
      backward(gradient);
  };
  part("attn.scores");
  product(length, width, {});
  part("attn.softmax");
  if (is(KernelStyle::eager)) {
    for (const VectorOp op : {VectorOp::mul_scalar, VectorOp::add_scalar})
      forward(op, scores());
    backward(VectorOp::softmax, scores(), Pass::backward);
    backward(VectorOp::mul_scalar, scores());
  } else {  // scaled and masked by the softmax's kernel
    backward(VectorOp::softmax, scores(), Pass::backward);
  }
  forward(VectorOp::softmax, scores(), size(scores()));
  if (setup_.framework.dropout) {
    const Bytes mask{static_cast<double>(scores().rows * scores().cols)};
    forward(VectorOp::mul_scalar, scores(), size(scores()) + mask);
    part_backward_.insert(part_backward_.begin(), {.part = part_,
                                                   .op = VectorShape{.chain = VectorOp::mul_scalar,
                                                                     .rows = scores().rows,
                                                                     .cols = scores().cols,
                                                                     .dtype = setup_.dtype}});
  }
  part("attn.values");
  product(width, length, {});
  forward(VectorOp::copy, heads(), size(heads()));  // heads of a token side by side again
  for (int tensor = 0; tensor < 2; ++tensor)
    backward(VectorOp::copy, heads());
}

}  // namespace c3
