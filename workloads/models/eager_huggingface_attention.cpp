#include "gpu/kernels/attention/attention_shape.hpp"
#include "gpu/kernels/vector/vector_shape.hpp"
#include "workloads/models/eager_huggingface.hpp"

namespace c3 {

const FamilyKernels& kernels_of(EagerFamily family) {
  // Divided by the root, mask added (broadcast over heads and queries).
  static const FamilyKernels kBert = {false, false, false,
                                      true,  false, {VectorOp::div_scalar, VectorOp::add_scalar}};
  // Divided; `where` with the causal mask, which is shared by all heads and sequences.
  static const FamilyKernels kGpt2 = {true, false, false, true, false, {VectorOp::div_scalar, VectorOp::copy}};
  // Mask added, the sum bounded from below.
  static const FamilyKernels kOpt = {false, true, true, false, false, {VectorOp::add_scalar, VectorOp::copy}};
  // Bias of relative positions added, one for each score; no scale.
  static const FamilyKernels kT5 = {false, false, false, true, true, {VectorOp::add}};
  switch (family) {
    case EagerFamily::bert:
      return kBert;
    case EagerFamily::gpt2:
      return kGpt2;
    case EagerFamily::opt:
      return kOpt;
    case EagerFamily::t5:
      break;
  }
  return kT5;
}

void StepWriter::self_attention(bool causal) {
  block_start("attn.norm");
  projections("attn.qkv", false);
  attend("attn", causal);
  linear("attn.out", setup_.tokens(), model_.hidden, model_.attention_width());
  block_end("attn.residual");
}

void StepWriter::cross_attention() {
  block_start("cross.norm");
  projections("cross.qkv", true);
  attend("cross", false);
  linear("cross.out", setup_.tokens(), model_.hidden, model_.attention_width());
  block_end("cross.residual");
}

void StepWriter::projections(const std::string& part, bool from_other) {
  const std::int64_t tokens = setup_.tokens();
  const std::int64_t kv_width = model_.kv_heads * model_.head_dim();
  if (kernels_.one_projection && !from_other) {
    const std::int64_t width = model_.attention_width() + 2 * kv_width;
    linear(part, tokens, width, model_.hidden);
    tape_.backward(part, VectorOp::copy, {tokens, width});  // three gradients put side by side
  } else {
    for (const std::int64_t width : {model_.attention_width(), kv_width, kv_width})
      linear(part, tokens, width, model_.hidden);
    // Three gradients of one input, or two of the other stack's output, which every layer adds to.
    tape_.backward(part, VectorOp::add, hidden());
    tape_.backward(part, VectorOp::add, hidden());
  }
  if (kernels_.scales_queries && !setup_.fused && !setup_.attention_kernel) {
    tape_.vector(part, VectorOp::mul_scalar, heads());
  }
}

void StepWriter::attend(const std::string& part, bool causal) {
  if (!setup_.attention_kernel) return scores_and_values(part);
  AttentionShape shape{.batch = setup_.sequences,
                       .heads = model_.heads,
                       .kv_heads = model_.kv_heads,
                       .queries = setup_.length,
                       .keys = setup_.length,
                       .head_dim = model_.head_dim(),
                       .causal = causal,
                       .dtype = setup_.dtype};
  tape_.forward(part + ".kernel", shape);
  shape.pass = Pass::backward;
  tape_.backward(part + ".kernel", shape);
}

void StepWriter::scores_and_values(const std::string& part) {
  const std::int64_t batch = setup_.sequences * model_.heads;
  const std::int64_t length = setup_.length;
  const std::int64_t width = model_.head_dim();
  head_copies(part + ".copy");
  tape_.product(part + ".scores",
                {.m = length, .n = length, .k = width, .dtype = setup_.dtype, .batch = batch});
  if (!setup_.fused) {
    for (const VectorOp op : kernels_.on_scores)
      tape_.vector(part + ".scale_mask", op, scores());
    // The bias' own gradient, which every layer adds to.
    if (model_.relative_buckets > 0) tape_.backward(part + ".scale_mask", VectorOp::add, scores());
  }
  tape_.vector(part + ".softmax", VectorOp::softmax, scores());
  if (kernels_.drops_scores) tape_.dropout(part + ".dropout", scores());
  tape_.product(part + ".values",
                {.m = length, .n = width, .k = length, .dtype = setup_.dtype, .batch = batch});
  tape_.forward(part + ".copy", VectorOp::copy, heads());  // heads of a token side by side again
  const bool strided = setup_.sequences > 1;
  if (strided) tape_.backward(part + ".copy", VectorOp::copy, heads());
}

// A batched product takes operands with one stride between matrices. Heads of one sequence have it, of several
// not: queries, keys and values are copied. Their gradients always are, back to rows of tokens.
void StepWriter::head_copies(const std::string& part) {
  const bool copies = kernels_.always_copies || setup_.sequences > 1;
  for (int tensor = 0; tensor < 3; ++tensor) {
    if (copies) tape_.forward(part, VectorOp::copy, heads());
    tape_.backward(part, VectorOp::copy, heads());
  }
}

// Once a stack: every layer adds the same bias, mask included.
void StepWriter::relative_bias() {
  if (model_.relative_buckets == 0) return;
  tape_.embedding("attn.bias", model_.relative_buckets, {setup_.length * setup_.length, model_.heads});
  tape_.vector("attn.bias", VectorOp::add_scalar, scores());
}

}  // namespace c3
