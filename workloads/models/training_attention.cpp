// Attention under training frameworks: rotation, and one kernel or products.

#include <stdexcept>

#include "gpu/kernels/attention/attention_shape.hpp"
#include "workloads/models/training_lowering.hpp"

namespace c3::inline workloads {
namespace {

AttentionKernel kernel_of(AttentionCode code) {
  switch (code) {
    case AttentionCode::flash2:
      return AttentionKernel::flash2;
    case AttentionCode::flash1:
      return AttentionKernel::flash1;
    case AttentionCode::triton:
      return AttentionKernel::triton;
    case AttentionCode::cudnn:
      return AttentionKernel::cudnn;
    case AttentionCode::newest:
      return AttentionKernel::newest;
    case AttentionCode::products:
      break;
  }
  throw std::logic_error("kernel_of: no attention kernel");
}

// As many pairs of queries and keys as a mask over documents leaves. Wrong when: memory traffic of keys and
// values matters, which is counted for the keys that a query sees.
void pack(AttentionShape& shape, std::int64_t keys) {
  shape.keys = keys;
  shape.causal = false;
}

}  // namespace

// Values are not rotated.
void TrainingLowering::rotation(const parts::Rotation& part) {
  const TensorShape queries = tokens_of(part.heads * part.head_dim);
  const TensorShape keys = tokens_of(part.kv_heads * part.head_dim);
  const bool repeats = repeats_heads(part.heads, part.kv_heads);
  rotate(queries, size(queries));
  rotate(keys, repeats ? Bytes{} : size(keys));
  if (!repeats) {
    last_forward().kept += size(keys);  // the values
    return;
  }
  for (int tensor = 0; tensor < 2; ++tensor) {  // keys and values, once for each query head
    const TensorShape both_sides = tokens_of((queries.cols + keys.cols) / 2);
    forward(VectorOp::copy, both_sides, size(queries));
    backward(VectorOp::copy, both_sides);
  }
}

// Queries and the key's part are rotated; keys are put together of this part, once for each head, and their
// own. The gradient of the part is a sum over heads. Values stay where their projection has put them.
void TrainingLowering::latent_rotation(const parts::LatentRotation& part) {
  const std::int64_t head = part.plain_dim + part.rotated_dim;
  const TensorShape keys = tokens_of(part.heads * head);
  const TensorShape own = tokens_of(part.heads * part.plain_dim);
  rotate(tokens_of(part.heads * part.rotated_dim), size(keys));  // of queries, which are as wide
  rotate(tokens_of(part.rotated_dim), {});
  const TensorShape both_sides = tokens_of((keys.cols + own.cols + part.rotated_dim) / 2);
  forward(VectorOp::copy, both_sides, size(keys) + size(tokens_of(part.heads * part.value_dim))).output =
      size(keys);
  backward(VectorOp::copy, both_sides).output = size(own);
}

// Complex numbers in fp32 are eager code's; compilers leave them as they are.
void TrainingLowering::rotate(TensorShape tensor, Bytes kept) {
  widen(tensor);
  forward_wide(VectorOp::mul_scalar, tensor);
  narrow(tensor, kept);
  widen_back(tensor);
  backward_wide(VectorOp::mul_scalar, tensor);
  narrow_back(tensor);
}

void TrainingLowering::attention(const parts::Attention& part) {
  if (part.is_biased) refuse();
  if (framework_.attention == AttentionCode::products) return scores_and_values(part);
  if (batch_.context.ranks > 1) return context_attention(part);
  attention_kernel(part);
}

AttentionShape TrainingLowering::shape_of(const parts::Attention& part) const {
  AttentionShape shape{.batch = batch_.sequences,
                       .heads = part.heads,
                       .kv_heads = repeats_heads(part.heads, part.kv_heads) ? part.heads : part.kv_heads,
                       .queries = batch_.length,
                       .keys = batch_.length,
                       .head_dim = part.head_dim,
                       .causal = part.is_causal,
                       .dtype = batch_.dtype};
  shape.kernel = kernel_of(framework_.attention);
  if (batch_.packed_keys > 0) pack(shape, batch_.packed_keys);
  if (part.value_dim != part.head_dim) shape.value_dim = part.value_dim;
  return shape;
}

void TrainingLowering::attention_kernel(const parts::Attention& part) {
  begin(Role::kernel);
  AttentionShape shape = shape_of(part);
  const Bytes sums = wide_size(tokens_of(part.heads));  // of exponentials, a number for each row
  forward(shape, size(tokens_of(part.heads * shape.value_width())) + sums).survives = true;
  shape.pass = Pass::backward;
  push_backward(shape);
}

void TrainingLowering::batched_product(const GemmShape& gemm) {
  forward(gemm);
  for (const GemmShape& gradient : c3::backward(gemm))
    push_backward(gradient);
}

void TrainingLowering::scores_and_values(const parts::Attention& part) {
  const std::int64_t batch = batch_.sequences * part.heads;
  const std::int64_t length = batch_.length;
  const std::int64_t value_dim = part.value_dim > 0 ? part.value_dim : part.head_dim;
  const TensorShape heads = tokens_of(part.heads * value_dim);
  const TensorShape scores{batch * length, length};
  begin(Role::scores);
  batched_product({.m = length, .n = length, .k = part.head_dim, .dtype = batch_.dtype, .batch = batch});
  begin(Role::softmax);
  backward(VectorOp::softmax, scores, Pass::backward);
  before_softmax(scores);
  forward(VectorOp::softmax, scores, size(scores));
  if (framework_.dropout) {
    forward(VectorOp::mul_scalar, scores, size(scores) + mask(scores));
    push_backward_first(vector_shape(VectorOp::mul_scalar, scores, batch_.dtype));
  }
  begin(Role::values);
  batched_product({.m = length, .n = value_dim, .k = length, .dtype = batch_.dtype, .batch = batch});
  forward(VectorOp::copy, heads, size(heads));  // heads of a token side by side again
  for (int tensor = 0; tensor < 2; ++tensor)
    backward(VectorOp::copy, heads);
}

}  // namespace c3::workloads
