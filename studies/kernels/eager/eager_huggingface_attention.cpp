// Attention in eager HuggingFace code: one kernel, or two products with the kernels between them.

#include "gpu/kernels/attention/attention_shape.hpp"
#include "studies/kernels/eager/eager_huggingface.hpp"
#include "studies/kernels/eager/huggingface_families.hpp"

namespace c3 { inline namespace studies {

void EagerHuggingFace::attention(const parts::Attention& part) {
  if (setup_.attention_kernel) return attention_kernel(part);
  scores_and_values(part);
}

void EagerHuggingFace::attention_kernel(const parts::Attention& part) {
  begin(Role::kernel);
  AttentionShape shape{.batch = setup_.sequences,
                       .heads = part.heads,
                       .kv_heads = part.kv_heads,
                       .queries = setup_.length,
                       .keys = setup_.length,
                       .head_dim = part.head_dim,
                       .causal = part.is_causal,
                       .dtype = setup_.dtype};
  forward(shape);
  shape.pass = Pass::backward;
  backward(shape);
}

void EagerHuggingFace::scores_and_values(const parts::Attention& part) {
  const std::int64_t batch = setup_.sequences * part.heads;
  const std::int64_t length = setup_.length;
  const std::int64_t width = part.head_dim;
  const TensorShape heads = tokens_of(part.heads * width);
  const TensorShape scores = scores_of(part.heads);
  begin(Role::scale_mask);
  if (kernels_.scales_queries && !setup_.fused) vector(VectorOp::mul_scalar, heads);
  begin(Role::copy);
  head_copies(heads);
  begin(Role::scores);
  product({.m = length, .n = length, .k = width, .dtype = setup_.dtype, .batch = batch});
  if (!setup_.fused) {
    begin(Role::scale_mask);
    for (const VectorOp op : kernels_.on_scores)
      vector(op, scores);
    // The bias' own gradient, which every layer adds to.
    if (part.is_biased) backward(VectorOp::add, scores);
  }
  begin(Role::softmax);
  vector(VectorOp::softmax, scores);
  begin(Role::dropout);
  if (kernels_.drops_scores) drop(scores);
  begin(Role::values);
  product({.m = length, .n = width, .k = length, .dtype = setup_.dtype, .batch = batch});
  begin(Role::copy);
  forward(VectorOp::copy, heads);  // heads of a token side by side again
  const bool is_strided = setup_.sequences > 1;
  if (is_strided) backward(VectorOp::copy, heads);
}

// A batched product takes operands with one stride between matrices. Heads of one sequence have it, of several
// not: queries, keys and values are copied. Their gradients always are, back to rows of tokens.
void EagerHuggingFace::head_copies(TensorShape heads) {
  const bool copies = kernels_.always_copies || setup_.sequences > 1;
  for (int tensor = 0; tensor < 3; ++tensor) {
    if (copies) forward(VectorOp::copy, heads);
    backward(VectorOp::copy, heads);
  }
}

}}  // namespace c3::studies
