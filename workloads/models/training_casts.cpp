// Casts of operands for products in a recipe's type.
//
// TransformerEngine's modules keep casts: forward they cast an input, along columns too for its weight's
// gradient, and keep that copy alone; weights are cast in a step's first micro-batch and stay; backward an
// output's gradient is cast along both (pytorch/module/linear.py @d0067d0d: set_usage, update_usage,
// is_first_microbatch). torchao's keep 16 bits and cast input and weight again backward
// (torchao/float8/float8_linear.py, matmul_with_hp_or_float8_args). Where scales are a whole tensor's and
// products take any layout, one copy serves both.
//
// Wrong when: torchao is not compiled, whose casts are several kernels; with sequence parallelism transposed
// copies are made of a rank's part before it is gathered, where the library transposes what was gathered.

#include <algorithm>
#include <iterator>

#include "gpu/kernels/operator_table.hpp"
#include "workloads/models/styles/style.hpp"
#include "workloads/models/training_lowering.hpp"

namespace c3 { inline namespace workloads {

bool TrainingLowering::is_cast(const ModelPart* part) const {
  return casts() && part != nullptr && is_of_layer(part->id.block) &&
         std::holds_alternative<parts::Projection>(part->kind);
}

const ModelPart* TrainingLowering::next_but_adapter() const {
  const ModelPart* const next = next_part();
  return next != nullptr && std::holds_alternative<parts::Adapter>(next->kind) ? part_after_next() : next;
}

bool TrainingLowering::trains(const ModelPart* part) {
  const auto* const product = part == nullptr ? nullptr : std::get_if<parts::Projection>(&part->kind);
  return product != nullptr && !product->is_frozen;
}

bool TrainingLowering::keeps_casts() const {
  return framework_.kernels->keeps_casts && batch_.precision.weight_gradients;
}

Bytes TrainingLowering::kept_for_next(Bytes bytes) const {
  const auto* const product =
      next_part() == nullptr ? nullptr : std::get_if<parts::Projection>(&next_part()->kind);
  if (product != nullptr && product->feeds_adapter) return bytes;
  if (product != nullptr && product->is_frozen) return {};
  return is_cast(next_part()) && keeps_casts() ? Bytes{} : bytes;
}

NormCast TrainingLowering::cast_by_norm() const {
  if (!is_cast(next_part())) return NormCast::none;
  return std::min(batch_.precision.recipe->norm, framework_.kernels->norm_cast);
}

GemmShape TrainingLowering::in_recipe(GemmShape gemm) const {
  gemm.dtype = *batch_.precision.recipe->dtype;
  gemm.scales = batch_.precision.recipe->scales;
  return gemm;
}

std::vector<VectorShape> TrainingLowering::casts_of(const TensorCasts& casts, bool both,
                                                    TensorShape tensor) const {
  std::vector<VectorShape> kernels;
  if (casts.searches) kernels.push_back(vector_shape(VectorOp::reduce, tensor, batch_.dtype));
  kernels.push_back(vector_shape(both ? casts.both : casts.rows, tensor, batch_.dtype));
  return kernels;
}

VectorShape TrainingLowering::transposed_copy(TensorShape tensor) const {
  return vector_shape(VectorOp::copy, tensor, *batch_.precision.recipe->dtype);
}

// Three bytes a number, as that share of a copy of 16 bits.
VectorShape TrainingLowering::dequantized(TensorShape tensor) const {
  return vector_shape(VectorOp::copy, {tensor.rows, std::max<std::int64_t>(1, tensor.cols * 3 / 4)},
                      batch_.dtype);
}

// Megatron-Core's activation_func_fp8_input_store (@0cb4a9c8, core/fusions/fused_bias_swiglu.py): a cast
// without a scale, and one back before the backward kernel.
void TrainingLowering::keep_quantized(TensorShape tensor) {
  PartKernel& cast = forward(VectorOp::quantize, tensor);
  cast.kept = output_bytes(vector_shape(VectorOp::quantize, tensor, batch_.dtype));
  push_backward(dequantized(tensor)).output = size(tensor);
}

// Kept is the copy that the weight's gradient reads.
void TrainingLowering::cast_input(TensorShape tensor, bool trained, NormCast norm) {
  const PrecisionSetup& precision = batch_.precision;
  TensorCasts casts = precision.recipe->inputs;
  casts.searches = casts.searches && norm == NormCast::none;
  const bool keeps = trained && keeps_casts();
  const bool both = keeps && precision.needs_two_copies();
  const Bytes along_rows = output_bytes(casts_of(casts, false, tensor).back());
  const Bytes all = output_bytes(casts_of(casts, both, tensor).back());
  const Bytes kept = !keeps ? Bytes{} : both ? all - along_rows : all;
  if (norm == NormCast::whole) {
    if (!both) last_forward().kept += kept;
    if (both) forward(transposed_copy(tensor), kept);
    return;
  }
  for (const VectorShape& kernel : casts_of(casts, both, tensor))
    forward(kernel);
  last_forward().kept = kept;
}

void TrainingLowering::cast_weight(TensorShape weight) {
  const PrecisionSetup& precision = batch_.precision;
  const TensorCasts& casts = precision.recipe->weights;
  const bool stays = batch_.weights_stay && framework_.kernels->keeps_casts;
  const bool both = stays && precision.keeps_two_copies();
  std::vector<VectorShape> kernels;
  if (!precision.gathers_cast())
    kernels = casts_of(casts, both, weight);
  else if (both)
    kernels = {transposed_copy(weight)};
  for (const VectorShape& kernel : kernels) {
    PartKernel& cast = forward(kernel);
    cast.once = stays;
    if (stays) cast.output = Bytes{};  // there for the whole step
  }
}

void TrainingLowering::cast_gradient(TensorShape tensor, bool trained) {
  const PrecisionSetup& precision = batch_.precision;
  const bool both = trained && precision.weight_gradients && precision.needs_two_copies();
  for (const VectorShape& kernel : casts_of(precision.recipe->gradients, both, tensor))
    push_backward(kernel);
}

void TrainingLowering::cast_again(TensorShape input, TensorShape weight, bool trained) {
  const PrecisionSetup& precision = batch_.precision;
  const bool stays = batch_.weights_stay && framework_.kernels->keeps_casts;
  std::vector<VectorShape> kernels;
  if (!stays && !precision.gathers_cast()) {
    kernels = casts_of(precision.recipe->weights, false, weight);
  } else if ((!stays || !precision.transposes) && precision.needs_two_copies()) {
    kernels = {transposed_copy(weight)};
  }
  if (trained && !framework_.kernels->keeps_casts && precision.weight_gradients)
    std::ranges::copy(casts_of(precision.recipe->inputs, false, input), std::back_inserter(kernels));
  for (const VectorShape& kernel : kernels)
    push_backward(kernel);
}

}}  // namespace c3::workloads
