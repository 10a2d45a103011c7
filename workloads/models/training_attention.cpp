// Attention under training frameworks: rotation, and one kernel or products.

#include <algorithm>
#include <stdexcept>

#include "gpu/kernels/attention/attention_shape.hpp"
#include "gpu/kernels/operator_table.hpp"
#include "gpu/kernels/tiling.hpp"
#include "workloads/models/training_lowering.hpp"

namespace c3 { inline namespace workloads {
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

// Counts the pairs of queries and keys that a mask over documents leaves. Wrong when: memory traffic of keys
// and values matters, which is counted for the keys that a query sees; windows or chunks cut documents that are
// little longer.
void pack(AttentionShape& shape, std::int64_t keys, std::int64_t chunk) {
  shape.keys = keys;
  for (const std::int64_t most : {shape.window, chunk})
    if (most > 0) shape.keys = std::min(shape.keys, most);
  shape.window = 0;
  shape.causal = false;
}

}  // namespace

// Values are not rotated.
void TrainingLowering::rotation(const parts::Rotation& part) {
  const TensorShape queries = tokens_of(part.heads * part.head_dim);
  const TensorShape keys = tokens_of(part.kv_heads * part.head_dim);
  const bool repeats = repeats_heads(part.heads, part.kv_heads);
  const bool keeps = !quantizes_attention();
  rotate(queries, keeps ? size(queries) : Bytes{});
  rotate(keys, repeats || !keeps ? Bytes{} : size(keys));
  if (!repeats) {
    if (keeps) last_forward().kept += size(keys);  // the values
    return;
  }
  for (int tensor = 0; tensor < 2; ++tensor) {  // keys and values, once for each query head
    const TensorShape both_sides = tokens_of((queries.cols + keys.cols) / 2);
    forward(VectorOp::copy, both_sides, keeps ? size(queries) : Bytes{});
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
  if (part.position_inputs > 0 && framework_.attention != AttentionCode::products) refuse();
  if (framework_.attention == AttentionCode::products) return scores_and_values(part);
  if (batch_.context.ranks > 1) return context_attention(part);
  if (quantizes_attention()) return quantized_attention(part);
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
  if (part.window < shape.keys * batch_.context.ranks) shape.window = part.window;
  if (batch_.packed_keys > 0) pack(shape, batch_.packed_keys, part.chunk);
  if (part.value_dim != part.head_dim) shape.value_dim = part.value_dim;
  return shape;
}

// A chunk is a sequence of its own. Wrong when: sequences end with a chunk that is not full, whose tokens are
// shared out among all chunks here.
AttentionShape TrainingLowering::in_chunks(AttentionShape shape, const parts::Attention& part) {
  if (part.chunk == 0 || !shape.causal) return shape;  // packed documents are no longer causal
  const std::int64_t chunks = ceil_div(shape.queries, part.chunk);
  shape.batch *= chunks;
  shape.queries = shape.keys = ceil_div(shape.queries, chunks);
  return shape;
}

void TrainingLowering::attention_kernel(const parts::Attention& part) {
  begin(Role::kernel);
  AttentionShape shape = in_chunks(shape_of(part), part);
  const Bytes sums = wide_size(tokens_of(part.heads));  // of exponentials, a number for each row
  forward(shape, size(tokens_of(part.heads * shape.value_width())) + sums).survives = true;
  shape.pass = Pass::backward;
  push_backward(shape);
}

// TransformerEngine's fp8_dpa without fp8_mha (@d0067d0d, pytorch/attention, FusedAttnFunc): queries, keys and
// values are cast together, and what comes out is cast back; backward the same with gradients. Kept are the
// casts. Products run at the type's rate, exponentials as before.
void TrainingLowering::quantized_attention(const parts::Attention& part) {
  begin(Role::kernel);
  AttentionShape shape = in_chunks(shape_of(part), part);
  shape.dtype = *batch_.precision.recipe->dtype;
  const TensorShape result = tokens_of(part.heads * shape.value_width());
  const TensorShape operands =
      tokens_of(part.heads * part.head_dim + shape.kv_heads * (part.head_dim + shape.value_width()));
  for (const VectorShape& kernel : casts_of(batch_.precision.recipe->inputs, false, operands))
    forward(kernel).survives = true;
  last_forward().kept = output_bytes(vector_shape(VectorOp::quantize, operands, batch_.dtype));
  const Bytes cast_result = output_bytes(vector_shape(VectorOp::quantize, result, batch_.dtype));
  forward(shape, cast_result + wide_size(tokens_of(part.heads))).survives = true;
  forward(dequantized(result)).survives = true;

  for (const VectorShape& kernel : casts_of(batch_.precision.recipe->gradients, false, result))
    push_backward(kernel);
  shape.pass = Pass::backward;
  push_backward(shape);
  push_backward(dequantized(operands)).output = size(operands);
}

void TrainingLowering::batched_product(const GemmShape& gemm) {
  forward(gemm).launches = launches_of_attention();
  for (const GemmShape& gradient : c3::backward(gemm))
    push_backward(gradient).launches = launches_of_attention();
}

// HuggingFace transformers 4.36, models/xlnet/modeling_xlnet.py, XLNetRelativeAttention: keys of 2 x length
// relative positions, made for each sequence; three copies of the queries, each with a bias of its own; a
// product with positions, of whose columns each row takes its own; one with both segments, which a product with
// who is in which spreads over the keys; two sums. Positions are not learned, so that their keys' gradient ends
// at the weights.
void TrainingLowering::position_scores(const parts::Attention& part, TensorShape scores) {
  constexpr std::int64_t kSegments = 2;
  constexpr int kBiases = 3;
  const std::int64_t batch = batch_.sequences * part.heads;
  const std::int64_t length = batch_.length;
  const TensorShape queries = tokens_of(part.heads * part.head_dim);
  const TensorShape weights{queries.cols, part.position_inputs};
  const GemmShape keys{
      .m = 2 * queries.rows, .n = queries.cols, .k = part.position_inputs, .dtype = batch_.dtype};
  forward(keys, 2.0 * size(queries));
  push_backward(c3::backward(keys)[1]).gradient = size(weights);
  for (int bias = 0; bias < kBiases; ++bias) {
    forward(VectorOp::add_scalar, queries, size(queries));
    backward(VectorOp::reduce, {queries.cols, queries.rows}).gradient = size({queries.cols, 1});
    if (bias > 0) backward(VectorOp::add, queries);
  }
  batched_product({.m = length, .n = 2 * length, .k = part.head_dim, .dtype = batch_.dtype, .batch = batch});
  forward(VectorOp::copy, scores);
  backward(VectorOp::copy, scores);
  batched_product({.m = length, .n = kSegments, .k = part.head_dim, .dtype = batch_.dtype, .batch = batch});
  batched_product({.m = part.heads,
                   .n = length,
                   .k = kSegments,
                   .dtype = batch_.dtype,
                   .batch = batch_.sequences * length});
  for (int sum = 0; sum < 2; ++sum)
    forward(VectorOp::add, scores);
}

void TrainingLowering::scores_and_values(const parts::Attention& part) {
  const std::int64_t batch = batch_.sequences * part.heads;
  const std::int64_t length = batch_.length;
  const std::int64_t value_dim = part.value_dim > 0 ? part.value_dim : part.head_dim;
  const TensorShape heads = tokens_of(part.heads * value_dim);
  const TensorShape scores{batch * length, length};
  begin(Role::scores);
  batched_product({.m = length, .n = length, .k = part.head_dim, .dtype = batch_.dtype, .batch = batch});
  if (part.position_inputs > 0) position_scores(part, scores);
  begin(Role::softmax);
  backward(VectorOp::softmax, scores, Pass::backward).launches = launches_of_attention();
  before_softmax(scores);
  forward(VectorOp::softmax, scores, size(scores)).launches = launches_of_attention();
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

}}  // namespace c3::workloads
