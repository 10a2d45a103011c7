#include "workloads/models/training_lowering.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace c3::inline workloads {

void TrainingLowering::write_part(const ModelPart& part) {
  std::visit(ByKind{[this](const parts::Embedding& kind) { embedding(kind); },
                    [this](const parts::Norm& kind) { norm(kind); },
                    [this](const parts::Projection& kind) { projection(kind); },
                    [this](const parts::HeadNorm& kind) { head_norm(kind); },
                    [this](const parts::Rotation& kind) { rotation(kind); },
                    [this](const parts::Attention& kind) { attention(kind); },
                    [this](const parts::Activation& kind) { activation(kind); },
                    [this](const parts::Residual& kind) { residual(kind); },
                    [this](const parts::Dropout& kind) { dropout(kind); },
                    [this](const parts::Loss& kind) { loss(kind); },
                    [this](const parts::Adapter& kind) { adapter(kind); },
                    // Kinds that it has no kernels for.
                    [this](const auto& /*kind*/) { refuse(); }},
             part.kind);
  std::visit(ByKind{[this](const parts::Embedding& kind) { freeze(kind); },
                    [this](const parts::Norm& kind) { freeze(kind); },
                    [this](const parts::HeadNorm& kind) { freeze(kind); },
                    [this](const parts::Projection& kind) { freeze(kind); },
                    [this](const parts::Activation& kind) { freeze(kind); }, [](const auto& /*kind*/) {}},
             part.kind);
}

void TrainingLowering::freeze(const parts::Embedding& part) {
  if (part.is_frozen) drop_backward();
}

void TrainingLowering::freeze(const parts::Norm& part) {
  if (part.is_frozen) drop_gradients();
  if (!part.output_is_kept) forget_output(norm_output(part.width));
}

void TrainingLowering::freeze(const parts::HeadNorm& part) {
  if (part.is_frozen) drop_gradients();
}

void TrainingLowering::freeze(const parts::Projection& part) {
  if (part.is_frozen) drop_gradients();
}

void TrainingLowering::freeze(const parts::Activation& part) {
  if (!part.output_is_kept) forget_output(size(tokens_of(part.width)));
}

// Compiled code may not keep it anyway.
void TrainingLowering::forget_output(Bytes output) {
  Bytes& kept = last_forward().kept;
  kept = std::max(Bytes{}, kept - output);
}

Bytes TrainingLowering::size(TensorShape tensor) const {
  return element_size(batch_.dtype) * static_cast<double>(tensor.rows * tensor.cols);
}

Bytes TrainingLowering::wide_size(TensorShape tensor) const {
  return element_size(DType::fp32) * static_cast<double>(tensor.rows * tensor.cols);
}

Bytes TrainingLowering::mask(TensorShape tensor) const {
  return Bytes{framework_.dropout ? static_cast<double>(tensor.rows * tensor.cols) : 0.0};
}

PartKernel& TrainingLowering::forward(const Operator& op, Bytes kept) {
  PartKernel& kernel = push_forward(op);
  kernel.kept = kept + std::exchange(unmade_, {});
  return kernel;
}

PartKernel& TrainingLowering::forward(VectorChain chain, TensorShape tensor, Bytes kept) {
  return forward(vector_shape(chain, tensor, batch_.dtype), kept);
}

PartKernel& TrainingLowering::backward(VectorChain chain, TensorShape tensor, Pass pass) {
  return push_backward(vector_shape(chain, tensor, batch_.dtype, pass));
}

PartKernel& TrainingLowering::forward_wide(VectorChain chain, TensorShape tensor, Bytes kept) {
  return forward(vector_shape(chain, tensor, DType::fp32), kept);
}

PartKernel& TrainingLowering::backward_wide(VectorChain chain, TensorShape tensor, Pass pass) {
  return push_backward(vector_shape(chain, tensor, DType::fp32, pass));
}

// One side of the copy has four bytes an element: as many bytes as fp32's share of a copy of fp32.
VectorShape TrainingLowering::cast_of(TensorShape tensor) const {
  return vector_shape(VectorOp::copy, {tensor.rows, tensor.cols * 3 / 2}, batch_.dtype);
}

void TrainingLowering::widen(TensorShape tensor, Bytes kept) {
  if (batch_.dtype == DType::fp32) {
    unmade_ += kept;
    return;
  }
  forward(cast_of(tensor), kept).output = wide_size(tensor);
}

void TrainingLowering::narrow(TensorShape tensor, Bytes kept) {
  if (batch_.dtype == DType::fp32) {
    last_forward().kept += kept;
    return;
  }
  forward(cast_of(tensor), kept).output = size(tensor);
}

void TrainingLowering::widen_back(TensorShape tensor) {
  if (batch_.dtype != DType::fp32) push_backward(cast_of(tensor)).output = wide_size(tensor);
}

void TrainingLowering::narrow_back(TensorShape tensor) {
  if (batch_.dtype != DType::fp32) push_backward(cast_of(tensor)).output = size(tensor);
}

void TrainingLowering::embedding(const parts::Embedding& part) {
  const TensorShape tensor = tokens_of(part.width);
  for (std::size_t table = 0; table < part.rows.size(); ++table) {
    const TensorShape weight{part.rows[table], part.width};
    forward(VectorOp::embedding, tensor);
    if (table > 0) forward(VectorOp::add, tensor);
    if (table == 0)  // zeros, written only: the gradient
      backward(VectorOp::reduce, weight, Pass::backward).output = Bytes{};
    backward(VectorOp::embedding, tensor, Pass::backward).gradient = size(weight);
  }
}

void TrainingLowering::dropout(const parts::Dropout& part) {
  if (!framework_.dropout) return;
  const TensorShape tensor = past_blocks(part.width);
  forward(VectorOp::mul_scalar, tensor, mask(tensor));
  backward(VectorOp::mul_scalar, tensor);
}

void TrainingLowering::norm(const parts::Norm& part) {
  norm_of_rows(part.formula, past_blocks(part.width), norm_output(part.width));
}

void TrainingLowering::norm_of_rows(Norm formula, TensorShape tensor, Bytes kept) {
  fused_norm(formula, tensor, tensor, tensor, kept);
}

// The rotation behind it, or attention, keeps its own.
void TrainingLowering::head_norm(const parts::HeadNorm& part) {
  for (const std::int64_t heads : {part.heads, part.kv_heads})
    norm_of_rows(part.formula, {batch_.tokens() * heads, part.head_dim}, {});
}

void TrainingLowering::fused_norm(Norm formula, TensorShape tensor, TensorShape forward_tensor,
                                  TensorShape backward_tensor, Bytes kept) {
  const bool is_layernorm = formula == Norm::layernorm;
  const VectorOp op = is_layernorm ? VectorOp::layernorm : VectorOp::rmsnorm;
  // Its input, and its output for the product after it.
  PartKernel& kernel = forward(op, forward_tensor, size(tensor) + kept);
  if (part_is({BlockId::self_attention, Role::norm})) kernel.kept_input = size(tensor);
  backward(op, backward_tensor, Pass::backward);
  // Gradients of its weight (and bias): one kernel sums over the rows, from the input and the gradient.
  backward(VectorOp::reduce, {tensor.cols, 2 * tensor.rows}).gradient =
      size({is_layernorm ? 2 : 1, tensor.cols});
}

// What feeds the next part's backward pass is kept as it is.
void TrainingLowering::projection(const parts::Projection& part) {
  if (!framework_.separate_projections)
    return linear(part, std::accumulate(part.outputs.begin(), part.outputs.end(), std::int64_t{0}));
  for (const std::int64_t outputs : part.outputs)
    linear(part, outputs);
  for (std::size_t sum = 1; sum < part.outputs.size(); ++sum)  // gradients of one input
    backward(VectorOp::add, tokens_of(part.inputs));
}

// Autograd's order: the gradient of the input, then that of the weight. A bias' gradient sums over tokens.
void TrainingLowering::linear(const parts::Projection& part, std::int64_t outputs) {
  const GemmShape gemm{.m = batch_.tokens(), .n = outputs, .k = part.inputs, .dtype = batch_.dtype};
  const bool is_kept = part.output_is_kept || (part_is({BlockId::head, Role::logits}) && keeps_logits());
  PartKernel& product = forward(gemm, is_kept ? size(tokens_of(outputs)) : Bytes{});
  product.survives = ++products_ % 2 == 1;
  product.is_frozen = part.is_frozen;
  if (part.has_bias && adds_bias()) forward(VectorOp::add_scalar, tokens_of(outputs));
  const auto [input, weight] = c3::backward(gemm);
  push_backward(input);
  push_backward(weight).gradient = size({outputs, part.inputs});
  if (part.has_bias) backward(VectorOp::reduce, {outputs, batch_.tokens()}).gradient = size({outputs, 1});
}

VectorChain TrainingLowering::sum_kernel() const {
  if (!framework_.dropout) return VectorOp::add;
  VectorChain chain = VectorOp::mul_scalar;
  chain.append(VectorOp::add);
  return chain;
}

// What comes through the block is added to what runs past it; so are their gradients.
void TrainingLowering::residual(const parts::Residual& part) {
  const TensorShape tensor = past_blocks(part.width);
  forward(sum_kernel(), tensor, mask(tensor));
  backward(VectorOp::add, tensor);
  if (framework_.dropout) backward(VectorOp::mul_scalar, tensor);
}

// silu and gelu read and write alike.
void TrainingLowering::activation(const parts::Activation& part) {
  const TensorShape wide = tokens_of(part.width);
  const VectorOp function = part.function == Activation::relu ? VectorOp::relu : VectorOp::gelu;
  if (part.is_gated) return gated(function, wide);
  forward(function, wide, size(wide));
  backward(function, wide, Pass::backward);
}

void TrainingLowering::gated(VectorOp function, TensorShape tensor) {
  VectorChain chain = function;
  chain.append(VectorOp::mul);
  forward(chain, tensor, size(tensor));
  backward(chain, tensor, Pass::backward);
}

void TrainingLowering::loss(const parts::Loss& part) {
  const TensorShape logits = tokens_of(part.words);
  if (framework_.cross_entropy != CrossEntropy::separate) return fused_loss(logits);
  if (framework_.loss_dtype == DType::fp32) return wide_loss(logits);
  separate_loss(logits);
}

// One kernel reads the logits and keeps the logarithm of each row's sum; one more reads them and writes their
// gradient. Both are in the loss' type.
void TrainingLowering::fused_loss(TensorShape logits) {
  const DType dtype = widens_logits() ? DType::fp32 : batch_.dtype;
  if (widens_logits()) widen(logits, wide_size(logits));
  forward(vector_shape(VectorOp::reduce, logits, dtype), wide_size({logits.rows, 1}));
  PartKernel& gradient = push_backward(vector_shape(VectorOp::exp, logits, dtype));
  if (framework_.cross_entropy == CrossEntropy::in_place) gradient.output = Bytes{};
  if (widens_logits()) narrow_back(logits);
}

// The logarithm of the softmax, and the share of each token's own word; backward zeros but for those.
void TrainingLowering::separate_loss(TensorShape logits) {
  forward(VectorOp::softmax, logits, size(logits));
  backward(VectorOp::reduce, logits, Pass::backward);
  backward(VectorOp::softmax, logits, Pass::backward);
}

void TrainingLowering::wide_loss(TensorShape logits) {
  widen(logits);
  forward_wide(VectorOp::softmax, logits, wide_size(logits));
  backward_wide(VectorOp::reduce, logits, Pass::backward);
  backward_wide(VectorOp::softmax, logits, Pass::backward);
  narrow_back(logits);
}

}  // namespace c3::workloads
