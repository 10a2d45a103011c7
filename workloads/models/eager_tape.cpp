#include "workloads/models/eager_tape.hpp"

#include <algorithm>
#include <utility>

#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "gpu/kernels/vector/vector_shape.hpp"

namespace c3 {

VectorShape Tape::shape(VectorOp op, Rows tensor, Pass pass) const {
  return {.chain = op, .rows = tensor.rows, .cols = tensor.cols, .dtype = setup_.dtype, .pass = pass};
}

void Tape::backward(const std::string& part, const Operator& op) {
  if (setup_.training) step_.backward.push_back({part, op, count_});
}

void Tape::vector(const std::string& part, VectorOp op, Rows tensor) {
  forward(part, op, tensor);
  switch (op) {
    case VectorOp::add:
    case VectorOp::add_scalar:
      return;
    case VectorOp::mul:  // a product for each factor
      backward(part, VectorOp::mul, tensor);
      backward(part, VectorOp::mul, tensor);
      return;
    case VectorOp::pow_scalar:
      power_backward(part, tensor);
      return;
    default:
      backward(part, op, tensor, Pass::backward);
  }
}

void Tape::linear(const std::string& part, std::int64_t tokens, std::int64_t outputs, std::int64_t inputs,
                  bool bias) {
  product(part, {.m = tokens, .n = outputs, .k = inputs, .dtype = setup_.dtype});
  parameter(part, {outputs, inputs});
  if (bias) this->bias(part, tokens, outputs);
}

void Tape::tied_linear(const std::string& part, std::int64_t tokens, std::int64_t outputs, std::int64_t inputs,
                       bool bias) {
  product(part, {.m = tokens, .n = outputs, .k = inputs, .dtype = setup_.dtype});
  backward(part, VectorOp::add, {outputs, inputs});
  if (bias) this->bias(part, tokens, outputs);
}

void Tape::bias(const std::string& part, std::int64_t tokens, std::int64_t outputs) {
  backward(part, VectorOp::reduce, {outputs, tokens});
  parameter(part, {1, outputs});
}

void Tape::product(const std::string& part, const GemmShape& gemm) {
  forward(part, gemm);
  for (const GemmShape& gradient : c3::backward(gemm))
    backward(part, gradient);
}

void Tape::parameter(const std::string& part, Rows weight) {
  if (setup_.adds_to_gradients) backward(part, VectorOp::add, weight);
}

// One kernel that reads the tensor and writes it, and a byte of mask for each element, which is left out here.
void Tape::dropout(const std::string& part, Rows tensor) {
  if (setup_.training) vector(part, VectorOp::mul_scalar, tensor);
}

void Tape::norm(const std::string& part, Norm norm, Rows tensor) {
  if (norm == Norm::rmsnorm) {
    rmsnorm(part, tensor);
  } else {
    vector(part, VectorOp::layernorm, tensor);
    // Gradients of weight and bias: one kernel sums both over the rows, from the input and the gradient.
    backward(part, VectorOp::reduce, {tensor.cols, 2 * tensor.rows});
    parameter(part, {1, tensor.cols});
  }
  parameter(part, {1, tensor.cols});
}

// x rsqrt(mean(x^2) + epsilon) weight, a kernel each; the last two factors are broadcast.
void Tape::rmsnorm(const std::string& part, Rows tensor) {
  if (setup_.fused) return forward(part, VectorOp::rmsnorm, tensor);
  const Rows row_numbers{tensor.rows, 1};
  forward(part, VectorOp::pow_scalar, tensor);
  forward(part, VectorOp::reduce, tensor);
  forward(part, VectorOp::add_scalar, row_numbers);
  forward(part, VectorOp::pow_scalar, row_numbers);
  forward(part, VectorOp::mul_scalar, tensor);
  forward(part, VectorOp::mul_scalar, tensor);

  // By the mean's path: spread over the row, through the square, added to the gradient of the direct path.
  backward(part, VectorOp::add, tensor);
  power_backward(part, tensor);
  backward(part, VectorOp::reduce, tensor, Pass::backward);
  // Of either factor: its product with the gradient, and the sum of the other's.
  for (const Rows& sums : {tensor, Rows{tensor.cols, tensor.rows}}) {
    backward(part, VectorOp::mul_scalar, tensor);
    backward(part, VectorOp::mul, tensor);
    backward(part, VectorOp::reduce, sums);
  }
}

// gradient x (exponent x^(exponent - 1))
void Tape::power_backward(const std::string& part, Rows tensor) {
  backward(part, VectorOp::mul, tensor);
  backward(part, VectorOp::mul_scalar, tensor);
  backward(part, VectorOp::pow_scalar, tensor);
}

void Tape::activation(const std::string& part, Activation activation, Rows tensor) {
  if (activation == Activation::relu) return vector(part, VectorOp::relu, tensor);
  if (activation == Activation::gelu_tanh && !setup_.fused) return gelu_tanh(part, tensor);
  vector(part, VectorOp::gelu, tensor);  // silu reads and writes as much
}

// 0.5 x (1 + tanh(c (x + d x^3))); x is used thrice, so its gradient is a sum of three.
void Tape::gelu_tanh(const std::string& part, Rows tensor) {
  backward(part, VectorOp::add, tensor);
  backward(part, VectorOp::add, tensor);
  for (const VectorOp op : {VectorOp::mul_scalar, VectorOp::pow_scalar, VectorOp::mul_scalar, VectorOp::add,
                            VectorOp::mul_scalar, VectorOp::tanh, VectorOp::add_scalar, VectorOp::mul})
    vector(part, op, tensor);
}

void Tape::embedding(const std::string& part, std::int64_t table, Rows tensor) {
  vector(part, VectorOp::embedding, tensor);
  backward(part, VectorOp::reduce, {table, tensor.cols}, Pass::backward);  // zeros, written only
  parameter(part, {table, tensor.cols});
}

void Tape::cross_entropy(Rows logits) {
  if (!setup_.training) return;
  step_.loss.push_back({"loss", shape(VectorOp::softmax, logits), count_});
  backward("loss", VectorOp::softmax, logits, Pass::backward);
  backward("loss", VectorOp::reduce, logits, Pass::backward);  // zeros, but for each token's own word
}

StepOperators Tape::take() {
  std::ranges::reverse(step_.backward);
  return std::move(step_);
}

}  // namespace c3
