#include "workloads/models/training_lowering.hpp"

#include <numeric>
#include <utility>

#include "workloads/models/own_part.hpp"

namespace c3 { inline namespace workloads {
namespace {

// gelu-tanh issues nearly as many instructions as gelu.
VectorOp operator_of(Activation function) {
  if (function == Activation::relu) return VectorOp::relu;
  return function == Activation::silu ? VectorOp::silu : VectorOp::gelu;
}

}  // namespace

void TrainingLowering::write_part(const ModelPart& part) {
  const auto* const norm = std::get_if<parts::Norm>(&part.kind);
  const auto* const sum = std::get_if<parts::Residual>(&part.kind);
  if (norm != nullptr) norm_is_frozen_ = norm->is_frozen;
  reads_layer_input_ = norm != nullptr && norm->reads_layer_input;
  write_kernels(part);
  if (norm != nullptr && is_cast(next_part())) {
    cast_input(past_blocks(norm->width), trains(next_part()), cast_by_norm());
    input_is_cast_ = true;
  }
  if (sum != nullptr && std::exchange(casts_gradient_, false))
    cast_gradient(past_blocks(sum->width), !product_is_frozen_);
}

void TrainingLowering::write_kernels(const ModelPart& part) {
  std::visit(
      ByKind{[this](const parts::Embedding& kind) { embedding(kind); },
             [this](const parts::Norm& kind) { norm(kind); },
             [this](const parts::Projection& kind) { projection(kind); },
             [this](const parts::HeadNorm& kind) { head_norm(kind); },
             [this](const parts::Rotation& kind) { rotation(kind); },
             [this](const parts::LatentRotation& kind) { latent_rotation(kind); },
             [this](const parts::Attention& kind) { attention(kind); },
             [this](const parts::Activation& kind) { activation(kind); },
             [this](const parts::Residual& kind) { residual(kind); },
             [this](const parts::Dropout& kind) { dropout(kind); },
             [this](const parts::Loss& kind) { loss(kind); },
             [this](const parts::Router& kind) { router(kind); },
             [this](const parts::Experts& kind) { experts(kind); },
             [this](const parts::Adapter& kind) { adapter(kind); },
             [this](const parts::Classes& kind) { classes(kind); },
             [this](const parts::Picked& kind) { pick(kind); }, [this](const parts::Own& kind) { own(kind); },
             // Kinds that it has no kernels for.
             [this](const auto& /*kind*/) { refuse(); }},
      part.kind);
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
    if (part.is_frozen) continue;
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
  norm_of_rows(part.formula, past_blocks(part.width), kept_of_norm(part.width));
}

Bytes TrainingLowering::kept_of_norm(std::int64_t width) const {
  const bool is_gathered = next_part() == nullptr || next_part()->id.role != Role::compress;
  return kept_for_next(is_gathered ? norm_output(width) : size(past_blocks(width)));
}

void TrainingLowering::norm_of_rows(Norm formula, TensorShape tensor, Bytes kept) {
  fused_norm(formula, tensor, tensor, tensor, kept);
}

// The rotation behind it, or attention, keeps its own.
void TrainingLowering::head_norm(const parts::HeadNorm& part) {
  norm_is_frozen_ = part.is_frozen;
  for (const std::int64_t heads : {part.heads, part.kv_heads})
    norm_of_rows(part.formula, {batch_.tokens() * heads, part.head_dim}, {});
}

void TrainingLowering::fused_norm(Norm formula, TensorShape tensor, TensorShape forward_tensor,
                                  TensorShape backward_tensor, Bytes kept) {
  const bool is_layernorm = formula == Norm::layernorm;
  const VectorOp op = is_layernorm ? VectorOp::layernorm : VectorOp::rmsnorm;
  const bool is_whole = cast_by_norm() == NormCast::whole;
  const VectorOp cast = is_layernorm ? VectorOp::layernorm_quantize : VectorOp::rmsnorm_quantize;
  // Its input, and its output for the product after it.
  const auto kernel_of = [&](VectorOp which, TensorShape input, Pass pass) {
    VectorShape shape = vector_shape(which, input, batch_.dtype, pass);
    shape.is_eager = norms_are_eager() && has_eager_kernel(which);
    return shape;
  };
  PartKernel& kernel =
      forward(kernel_of(is_whole ? cast : op, forward_tensor, Pass::forward), size(tensor) + kept);
  kernel.kept_input = kept_as_layer_input(size(tensor), kept);
  push_backward(kernel_of(op, backward_tensor, Pass::backward));
  if (norm_is_frozen_) return;
  // Gradients of its weight (and bias): one kernel sums over the rows, from the input and the gradient.
  backward(VectorOp::reduce, {tensor.cols, 2 * tensor.rows}).gradient =
      size({is_layernorm ? 2 : 1, tensor.cols});
}

// The norm in front of a layer's first block keeps the layer's input, which the layer before has made; a norm
// at the layer's end keeps its output.
Bytes TrainingLowering::kept_as_layer_input(Bytes of_input, Bytes of_output) const {
  if (!part_is(Role::norm) || !is_of_layer()) return {};
  if (next_part() == nullptr) return of_output;
  return reads_layer_input_ ? of_input : Bytes{};
}

class TrainingLowering::OwnWriter final : public PartWriter {
 public:
  explicit OwnWriter(TrainingLowering& lowering) : lowering_(lowering) {}

  const TokenBatch& batch() const override { return lowering_.batch_; }
  PartKernel& forward(const Operator& op, Bytes kept) override { return lowering_.forward(op, kept); }
  PartKernel& backward(const Operator& op) override { return lowering_.push_backward(op); }

 private:
  TrainingLowering& lowering_;
};

void TrainingLowering::own(const parts::Own& part) {
  OwnWriter writer(*this);
  part.part->write(writer);
}

// What feeds the next part's backward pass is kept as it is. What shared experts make is added to what others
// make; so are gradients of their tokens.
void TrainingLowering::projection(const parts::Projection& part) {
  const TokenBatch all = batch_;
  if (part_is(Role::compress) || part_is(Role::widen)) {  // of the tokens that run past the blocks here
    batch_.sequences = 1;
    batch_.length = batch_.between;
  }
  projections(part);
  batch_ = all;
  if (part_is({BlockId::shared_experts, Role::down})) forward(VectorOp::add, past_blocks(part.outputs.front()));
  if (part_is({BlockId::shared_experts, Role::gate_up})) backward(VectorOp::add, past_blocks(part.inputs));
}

void TrainingLowering::projections(const parts::Projection& part) {
  product_is_frozen_ = part.is_frozen;
  const bool is_cast_before = std::exchange(input_is_cast_, false);
  const bool is_gathered = part_is(Role::expand) || part_is(Role::expand_kv);
  if (casts() && is_of_layer() && !is_cast_before)
    cast_input(is_gathered ? past_blocks(part.inputs) : tokens_of(part.inputs), !part.is_frozen);
  const ModelPart* const next = next_but_adapter();
  casts_gradient_ =
      casts() && is_of_layer() && next != nullptr && std::holds_alternative<parts::Residual>(next->kind);
  if (!framework_.separate_projections)
    return linear(part, std::accumulate(part.outputs.begin(), part.outputs.end(), std::int64_t{0}));
  for (const std::int64_t outputs : part.outputs)
    linear(part, outputs);
  for (std::size_t sum = 1; sum < part.outputs.size(); ++sum)  // gradients of one input
    backward(VectorOp::add, tokens_of(part.inputs));
}

// Autograd's order: the gradient of the input, then that of the weight. A bias' gradient sums over tokens.
void TrainingLowering::linear(const parts::Projection& part, std::int64_t outputs) {
  const GemmShape wide{.m = batch_.tokens() / experts_,
                       .n = outputs,
                       .k = part.inputs,
                       .dtype = batch_.dtype,
                       .batch = experts_};
  const bool is_narrow = casts() && is_of_layer();
  const GemmShape gemm = is_narrow ? in_recipe(wide) : wide;
  const TensorShape weights{experts_ * outputs, part.inputs};
  const int launches = framework_.experts_apart ? static_cast<int>(experts_) : 1;
  if (is_narrow) cast_weight(weights);
  const bool is_recast =
      (part_is(Role::qkv) && quantizes_attention()) || (part_is(Role::gate_up) && quantizes_activations());
  const bool is_kept =
      (part.output_is_kept && !is_recast) || (part_is({BlockId::head, Role::logits}) && keeps_logits());
  const bool needs_input = part.is_frozen ? part.feeds_adapter : !(is_narrow && keeps_casts());
  const bool keeps_input = part_is({BlockId::experts, Role::gate_up}) && needs_input;
  PartKernel& product = forward(gemm, (is_kept ? size(tokens_of(outputs)) : Bytes{}) +
                                          (keeps_input ? size(tokens_of(part.inputs)) : Bytes{}));
  product.survives = ++products_ % 2 == 1;
  product.launches = launches;
  product.is_frozen = part.is_frozen;
  if (part.has_bias && adds_bias()) forward(VectorOp::add_scalar, tokens_of(outputs));
  if (is_narrow && !casts_gradient_) cast_gradient(tokens_of(outputs), !part.is_frozen);
  if (is_narrow) cast_again(tokens_of(part.inputs), weights, !part.is_frozen);
  push_backward(c3::backward(gemm)[0]).launches = launches;
  if (part.is_frozen) return;
  GemmShape to_weight = c3::backward(batch_.precision.weight_gradients ? gemm : wide)[1];
  if (framework_.fused_accumulation)
    to_weight.result = framework_.gradient_dtype == DType::fp32 ? GemmResult::added_fp32 : GemmResult::added;
  PartKernel& of_weight = push_backward(to_weight);
  of_weight.gradient = size(weights);
  of_weight.launches = launches;
  if (part.has_bias)
    backward(VectorOp::reduce, {outputs, batch_.tokens()}).gradient = size({experts_ * outputs, 1});
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

void TrainingLowering::activation(const parts::Activation& part) {
  const TensorShape wide = tokens_of(part.width);
  const VectorOp function = operator_of(part.function);
  if (quantizes_activations()) keep_quantized(tokens_of(part.is_gated ? 2 * part.width : part.width));
  if (part.is_gated) return gated(function, wide);
  forward(function, wide, kept_for_next(size(wide)));
  backward(function, wide, Pass::backward);
}

void TrainingLowering::gated(VectorOp function, TensorShape tensor) {
  VectorChain chain = function;
  chain.append(VectorOp::mul);
  forward(chain, tensor, kept_for_next(size(tensor)));
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

}}  // namespace c3::workloads
