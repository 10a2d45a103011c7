#include "studies/kernels/eager/eager_tape.hpp"

namespace c3 { inline namespace studies {

void EagerTape::backward(const Operator& op) {
  if (options_.training) push_backward_first(op).count = count_;
}

void EagerTape::vector(VectorOp op, TensorShape tensor) {
  forward(op, tensor);
  switch (op) {
    case VectorOp::add:
    case VectorOp::add_scalar:
      return;
    case VectorOp::mul:  // a product for each factor
      backward(VectorOp::mul, tensor);
      backward(VectorOp::mul, tensor);
      return;
    case VectorOp::pow_scalar:
      power_backward(tensor);
      return;
    default:
      backward(op, tensor, Pass::backward);
  }
}

void EagerTape::linear(const Linear& linear) {
  product({.m = linear.tokens, .n = linear.outputs, .k = linear.inputs, .dtype = options_.dtype});
  const TensorShape weight{linear.outputs, linear.inputs};
  if (linear.is_tied) {
    backward(VectorOp::add, weight);
  } else {
    parameter(weight);
  }
  if (!linear.has_bias) return;
  backward(VectorOp::reduce, {linear.outputs, linear.tokens});
  parameter({1, linear.outputs});
}

void EagerTape::product(const GemmShape& gemm) {
  forward(gemm);
  for (const GemmShape& gradient : c3::backward(gemm))
    backward(gradient);
}

void EagerTape::parameter(TensorShape weight) {
  if (options_.adds_to_gradients) backward(VectorOp::add, weight);
}

// One kernel that reads the tensor and writes it, and a byte of mask for each element, which is left out here.
void EagerTape::drop(TensorShape tensor) {
  if (options_.training) vector(VectorOp::mul_scalar, tensor);
}

void EagerTape::norm_of(Norm norm, TensorShape tensor) {
  if (norm == Norm::rmsnorm) {
    rmsnorm(tensor);
  } else {
    VectorShape kernel = vector_shape(VectorOp::layernorm, tensor, options_.dtype);
    kernel.is_eager = true;
    forward(kernel);
    kernel.pass = Pass::backward;
    backward(kernel);
    // Gradients of weight and bias: one kernel sums both over the rows, from the input and the gradient.
    backward(VectorOp::reduce, {tensor.cols, 2 * tensor.rows});
    parameter({1, tensor.cols});
  }
  parameter({1, tensor.cols});
}

// x rsqrt(mean(x^2) + epsilon) weight, a kernel each; the last two factors are broadcast.
void EagerTape::rmsnorm(TensorShape tensor) {
  if (options_.fused) return forward(VectorOp::rmsnorm, tensor);
  const TensorShape row_numbers{tensor.rows, 1};
  forward(VectorOp::pow_scalar, tensor);
  forward(VectorOp::reduce, tensor);
  forward(VectorOp::add_scalar, row_numbers);
  forward(VectorOp::pow_scalar, row_numbers);
  forward(VectorOp::mul_scalar, tensor);
  forward(VectorOp::mul_scalar, tensor);

  // The mean's path: spread over the row, through the square, added to the gradient of the direct path.
  backward(VectorOp::add, tensor);
  power_backward(tensor);
  backward(VectorOp::reduce, tensor, Pass::backward);
  // Either factor: its product with the gradient, and the sum of the other's.
  for (const TensorShape& sums : {tensor, TensorShape{tensor.cols, tensor.rows}}) {
    backward(VectorOp::mul_scalar, tensor);
    backward(VectorOp::mul, tensor);
    backward(VectorOp::reduce, sums);
  }
}

// gradient x (exponent x^(exponent - 1))
void EagerTape::power_backward(TensorShape tensor) {
  backward(VectorOp::mul, tensor);
  backward(VectorOp::mul_scalar, tensor);
  backward(VectorOp::pow_scalar, tensor);
}

void EagerTape::activate(Activation activation, TensorShape tensor) {
  if (activation == Activation::relu) return vector(VectorOp::relu, tensor);
  if (activation == Activation::gelu_tanh && !options_.fused) return gelu_tanh(tensor);
  vector(activation == Activation::silu ? VectorOp::silu : VectorOp::gelu, tensor);
}

// 0.5 x (1 + tanh(c (x + d x^3))); x is used thrice, so its gradient is a sum of three.
void EagerTape::gelu_tanh(TensorShape tensor) {
  backward(VectorOp::add, tensor);
  backward(VectorOp::add, tensor);
  for (const VectorOp op : {VectorOp::mul_scalar, VectorOp::pow_scalar, VectorOp::mul_scalar, VectorOp::add,
                            VectorOp::mul_scalar, VectorOp::tanh, VectorOp::add_scalar, VectorOp::mul})
    vector(op, tensor);
}

void EagerTape::look_up(std::int64_t table, TensorShape tensor) {
  vector(VectorOp::embedding, tensor);
  backward(VectorOp::reduce, {table, tensor.cols}, Pass::backward);  // zeros, written only
  parameter({table, tensor.cols});
}

}}  // namespace c3::studies
