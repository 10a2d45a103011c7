#pragma once
/// Writes down the kernels of a forward pass and, as autograd does, those of its backward pass with them.

#include <cstdint>
#include <string>

#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "gpu/kernels/vector/vector_shape.hpp"
#include "workloads/models/model_dimensions.hpp"
#include "workloads/models/operator_list.hpp"

namespace c3 {

/// Rows of so many numbers: a tensor's shape, as operators see it.
struct Rows {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
};

class Tape {
 public:
  explicit Tape(const StepSetup& setup) : setup_(setup) {}

  /// Every operator that follows runs \p count times.
  void times(std::int64_t count) { count_ = count; }

  /// One kernel, and the kernels of its backward pass: none of a sum or of a sum with a constant, whose
  /// gradient is the one that comes in.
  void vector(const std::string& part, VectorOp op, Rows tensor);
  /// A kernel without a backward pass.
  void forward(const std::string& part, const Operator& op) { step_.forward.push_back({part, op, count_}); }
  void forward(const std::string& part, VectorOp op, Rows tensor) { forward(part, shape(op, tensor)); }
  /// A kernel of the backward pass, in training.
  void backward(const std::string& part, const Operator& op);
  void backward(const std::string& part, VectorOp op, Rows tensor, Pass pass = Pass::forward) {
    backward(part, shape(op, tensor, pass));
  }

  /// tokens x inputs to tokens x outputs by a weight, the bias added by the GEMM; three gradients.
  void linear(const std::string& part, std::int64_t tokens, std::int64_t outputs, std::int64_t inputs,
              bool bias);
  /// The same by a weight that was used before: the gradients of both uses are added.
  void tied_linear(const std::string& part, std::int64_t tokens, std::int64_t outputs, std::int64_t inputs,
                   bool bias);
  /// Of two tensors that are no weights.
  void product(const std::string& part, const GemmShape& gemm);
  void dropout(const std::string& part, Rows tensor);
  void norm(const std::string& part, Norm norm, Rows tensor);
  void activation(const std::string& part, Activation activation, Rows tensor);
  /// Looks up a row of \p table for every row of \p tensor.
  void embedding(const std::string& part, std::int64_t table, Rows tensor);
  void cross_entropy(Rows logits);

  /// The gradient of a weight is added to what is there.
  void parameter(const std::string& part, Rows weight);

  StepOperators take();

 private:
  VectorShape shape(VectorOp op, Rows tensor, Pass pass = Pass::forward) const;
  void bias(const std::string& part, std::int64_t tokens, std::int64_t outputs);
  void rmsnorm(const std::string& part, Rows tensor);
  void gelu_tanh(const std::string& part, Rows tensor);
  void power_backward(const std::string& part, Rows tensor);

  StepSetup setup_;
  std::int64_t count_ = 1;
  StepOperators step_;
};

}  // namespace c3
