#include "workloads/training/block_writer.hpp"

#include <iterator>
#include <utility>

#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "gpu/kernels/vector/vector_shape.hpp"

namespace c3 {

BlockWriter::BlockWriter(const TrainingSetup& setup)
    : setup_(setup),
      model_(setup.model),
      tokens_(setup.tokens()),
      width_(model_.attention_width() / setup.tensor_parallel),
      kv_width_(model_.kv_heads * model_.head_dim() / setup.tensor_parallel),
      ffn_(model_.ffn / setup.tensor_parallel),
      words_((model_.vocabulary + setup.tensor_parallel - 1) / setup.tensor_parallel) {}

BlockWriter::Rows BlockWriter::stream() const {
  return {setup_.sequence_parallel ? tokens_ / setup_.tensor_parallel : tokens_, model_.hidden};
}

Bytes BlockWriter::size(Rows tensor) const {
  return element_size(setup_.dtype) * static_cast<double>(tensor.rows * tensor.cols);
}

Bytes BlockWriter::wide_size(Rows tensor) const {
  return element_size(DType::fp32) * static_cast<double>(tensor.rows * tensor.cols);
}

void BlockWriter::part(const std::string& name) {
  block_.backward.insert(block_.backward.begin(), std::make_move_iterator(part_backward_.begin()),
                         std::make_move_iterator(part_backward_.end()));
  part_backward_.clear();
  part_ = name;
}

BlockKernels BlockWriter::take() {
  part({});
  return std::move(block_);
}

void BlockWriter::forward(const Operator& op, Bytes kept) {
  block_.forward.push_back({.part = part_, .op = op, .kept = kept + std::exchange(unmade_, {})});
}

void BlockWriter::backward(const Operator& op, Bytes gradient) {
  part_backward_.push_back({.part = part_, .op = op, .gradient = gradient});
}

void BlockWriter::forward(VectorChain chain, Rows tensor, Bytes kept) {
  forward(VectorShape{.chain = chain, .rows = tensor.rows, .cols = tensor.cols, .dtype = setup_.dtype}, kept);
}

void BlockWriter::backward(VectorChain chain, Rows tensor, Pass pass) {
  backward(VectorShape{
      .chain = chain, .rows = tensor.rows, .cols = tensor.cols, .dtype = setup_.dtype, .pass = pass});
}

void BlockWriter::forward_wide(VectorChain chain, Rows tensor, Bytes kept) {
  forward(VectorShape{.chain = chain, .rows = tensor.rows, .cols = tensor.cols, .dtype = DType::fp32}, kept);
}

void BlockWriter::backward_wide(VectorChain chain, Rows tensor, Pass pass) {
  backward(VectorShape{
      .chain = chain, .rows = tensor.rows, .cols = tensor.cols, .dtype = DType::fp32, .pass = pass});
}

// One side of the copy has four bytes an element: as many bytes as fp32's share of a copy of fp32.
VectorShape BlockWriter::cast_of(Rows tensor) const {
  return {.chain = VectorOp::copy, .rows = tensor.rows, .cols = tensor.cols * 3 / 2, .dtype = setup_.dtype};
}

void BlockWriter::widen(Rows tensor, Bytes kept) {
  if (setup_.dtype == DType::fp32) {
    unmade_ += kept;
    return;
  }
  forward(cast_of(tensor), kept);
  block_.forward.back().output = wide_size(tensor);
}

void BlockWriter::narrow(Rows tensor, Bytes kept) {
  if (setup_.dtype == DType::fp32) {
    block_.forward.back().kept += kept;
    return;
  }
  forward(cast_of(tensor), kept);
  block_.forward.back().output = size(tensor);
}

void BlockWriter::widen_back(Rows tensor) {
  if (setup_.dtype == DType::fp32) return;
  backward(cast_of(tensor));
  part_backward_.back().output = wide_size(tensor);
}

void BlockWriter::narrow_back(Rows tensor) {
  if (setup_.dtype == DType::fp32) return;
  backward(cast_of(tensor));
  part_backward_.back().output = size(tensor);
}

// With sequence parallelism a product is of all tokens. Megatron-LM keeps a rank's part and gathers it again.
Bytes BlockWriter::norm_output() const {
  return is(KernelStyle::megatron) ? size(stream()) : size({tokens_, model_.hidden});
}

// Autograd's order: the gradient of the input, then that of the weight. A bias' gradient sums over tokens.
void BlockWriter::linear(const Product& product) {
  const GemmShape gemm{.m = product.tokens, .n = product.outputs, .k = product.inputs, .dtype = setup_.dtype};
  forward(gemm, product.kept);
  block_.forward.back().survives = ++products_ % 2 == 1;
  const auto weights = static_cast<double>(product.outputs * product.inputs);
  const auto [input, weight] = c3::backward(gemm);
  backward(input);
  backward(weight, element_size(setup_.dtype) * weights);
  add_parameters(product.outputs * product.inputs);
  if (!product.bias) return;
  backward(VectorOp::reduce, {product.outputs, product.tokens});
  part_backward_.back().gradient = size({product.outputs, 1});
  add_parameters(product.outputs);
}

void BlockWriter::add_parameters(std::int64_t count) {
  block_.parameters += count;
  ++block_.parameter_tensors;
}

void BlockWriter::norm(const std::string& name) {
  part(name);
  const Rows tensor = stream();
  const bool is_layernorm = model_.norm == Norm::layernorm;
  add_parameters(model_.hidden);
  if (is_layernorm) add_parameters(model_.hidden);
  if (!is_layernorm && is(KernelStyle::eager)) return eager_rmsnorm();
  const VectorOp op = is_layernorm ? VectorOp::layernorm : VectorOp::rmsnorm;
  // Its input, and its output for the product after it.
  const Bytes kept = size(tensor) + norm_output();
  if (after_residual_) {  // two tensors in, two out: the sum and its norm; backward a gradient more comes in
    forward(op, {tensor.rows, 2 * tensor.cols}, kept);
    backward(op, {tensor.rows, tensor.cols * 4 / 3}, Pass::backward);
  } else {
    forward(op, tensor, kept);
    backward(op, tensor, Pass::backward);
  }
  if (name == "attn.norm") block_.forward.back().kept_input = size(tensor);
  after_residual_ = false;
  // Gradients of its weight (and bias): one kernel sums over the rows, from the input and the gradient.
  backward(VectorOp::reduce, {tensor.cols, 2 * tensor.rows});
  part_backward_.back().gradient = size({is_layernorm ? 2 : 1, tensor.cols});
}

// x rsqrt(mean(x^2) + epsilon) in fp32, then times the weight in the layer's type, a kernel each.
void BlockWriter::eager_rmsnorm() {
  const Rows tensor = stream();
  const Rows row_numbers{tensor.rows, 1};
  widen(tensor, wide_size(tensor));
  forward_wide(VectorOp::pow_scalar, tensor);
  forward_wide(VectorOp::reduce, tensor);
  forward_wide(VectorOp::add_scalar, row_numbers);
  forward_wide(VectorOp::pow_scalar, row_numbers);
  forward_wide(VectorOp::mul_scalar, tensor);
  narrow(tensor, size(tensor));
  forward(VectorOp::mul_scalar, tensor, norm_output());

  backward(VectorOp::mul_scalar, tensor);  // by the weight; its own gradient is a product and a sum
  backward(VectorOp::mul, tensor);
  backward(VectorOp::reduce, {tensor.cols, tensor.rows});
  part_backward_.back().gradient = size({1, tensor.cols});
  widen_back(tensor);
  backward_wide(VectorOp::mul_scalar, tensor);  // by the root; of the root a product and a sum
  backward_wide(VectorOp::mul, tensor);
  backward_wide(VectorOp::reduce, tensor);
  backward_wide(VectorOp::pow_scalar, row_numbers);
  backward_wide(VectorOp::reduce, tensor, Pass::backward);  // the mean's, spread over the row
  backward_wide(VectorOp::mul_scalar, tensor);              // the square's
  backward_wide(VectorOp::mul, tensor);
  backward_wide(VectorOp::add, tensor);
  narrow_back(tensor);
}

// What comes through the block is added to what runs past it; so are their gradients.
void BlockWriter::residual(const std::string& name) {
  part(name);
  const Rows tensor = stream();
  const Bytes mask{setup_.framework.dropout ? static_cast<double>(tensor.rows * tensor.cols) : 0.0};
  if (joins_residual() && name == "attn.residual") {
    after_residual_ = true;
    return;
  }
  VectorChain sum = VectorOp::add;
  if (setup_.framework.dropout && is(KernelStyle::eager)) {
    forward(VectorOp::mul_scalar, tensor, mask);
  } else if (setup_.framework.dropout) {
    sum = VectorOp::mul_scalar;
    sum.append(VectorOp::add);
  }
  forward(sum, tensor, mask);
  if (!joins_residual()) backward(VectorOp::add, tensor);
  if (setup_.framework.dropout) backward(VectorOp::mul_scalar, tensor);
}

void BlockWriter::feed_forward() {
  norm("mlp.norm");
  part("mlp.gate_up");
  const bool separate = model_.gated && setup_.framework.separate_projections;
  const std::int64_t products = separate ? 2 : 1;
  const std::int64_t outputs = (model_.gated ? 2 : 1) * ffn_ / products;
  for (std::int64_t i = 0; i < products; ++i) {
    linear({.tokens = tokens_,
            .outputs = outputs,
            .inputs = model_.hidden,
            .bias = model_.biases,
            .kept = size({tokens_, outputs})});
  }
  if (separate) backward(VectorOp::add, {tokens_, model_.hidden});
  activation();
  part("mlp.down");
  linear({.tokens = tokens_, .outputs = model_.hidden, .inputs = ffn_, .bias = model_.biases});
  residual("mlp.residual");
}

// silu and gelu read and write alike.
void BlockWriter::activation() {
  part("mlp.activation");
  const VectorOp function = model_.activation == Activation::relu ? VectorOp::relu : VectorOp::gelu;
  if (!model_.gated) {
    forward(function, wide(), size(wide()));
    backward(function, wide(), Pass::backward);
    return;
  }
  if (is(KernelStyle::eager)) {
    forward(function, wide(), size(wide()));
    forward(VectorOp::mul, wide(), size(wide()));
    backward(VectorOp::mul, wide());
    backward(VectorOp::mul, wide());
    backward(function, wide(), Pass::backward);
    return;
  }
  VectorChain chain = function;
  chain.append(VectorOp::mul);
  // A compiler makes the product again from its factors, in the kernel that makes their gradients.
  forward(chain, wide(), is(KernelStyle::compiled) ? Bytes{} : size(wide()));
  backward(chain, wide(), Pass::backward);
}

BlockKernels layer_kernels(const TrainingSetup& setup) {
  BlockWriter writer(setup);
  writer.self_attention();
  writer.feed_forward();
  return writer.take();
}

BlockKernels embedding_kernels(const TrainingSetup& setup) {
  BlockWriter writer(setup);
  writer.embedding();
  return writer.take();
}

BlockKernels head_kernels(const TrainingSetup& setup) {
  BlockWriter writer(setup);
  writer.head();
  return writer.take();
}

}  // namespace c3
