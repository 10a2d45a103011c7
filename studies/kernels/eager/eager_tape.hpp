#pragma once
/// Writes down the kernels of eager PyTorch code: with each forward kernel those of its backward pass, as
/// autograd does.

#include <cstdint>

#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "workloads/models/lowering.hpp"

namespace c3 { inline namespace studies {

/// What is written down, and how.
struct TapeOptions {
  bool training = false;          ///< with the backward pass
  bool fused = false;             ///< norms and activations in one kernel each, as a compiler makes them
  bool adds_to_gradients = true;  ///< gradients of the step before are kept and added to
  DType dtype = DType::fp32;
};

class EagerTape : public Lowering {
 protected:
  explicit EagerTape(const TapeOptions& options) : options_(options) {}

  /// Every kernel that follows runs \p count times.
  void times(std::int64_t count) { count_ = count; }

  /// A kernel without a backward pass.
  void forward(const Operator& op) { push_forward(op).count = count_; }
  void forward(VectorOp op, TensorShape tensor) { forward(vector_shape(op, tensor, options_.dtype)); }
  /// A kernel of the backward pass, in training: it runs before those that are written down so far.
  void backward(const Operator& op);
  void backward(VectorOp op, TensorShape tensor, Pass pass = Pass::forward) {
    backward(vector_shape(op, tensor, options_.dtype, pass));
  }
  /// One kernel, and the kernels of its backward pass: none of a sum or of a sum with a constant, whose
  /// gradient is the one that comes in.
  void vector(VectorOp op, TensorShape tensor);

  /// tokens x inputs to tokens x outputs by a weight, the bias added by the GEMM; three gradients. A tied
  /// weight was used before, and the gradients of both uses are added.
  struct Linear {
    std::int64_t tokens = 0, outputs = 0, inputs = 0;
    bool has_bias = false;
    bool is_tied = false;
  };
  void linear(const Linear& linear);
  /// A product of two tensors that are no weights.
  void product(const GemmShape& gemm);
  void drop(TensorShape tensor);
  void norm_of(Norm norm, TensorShape tensor);
  void activate(Activation activation, TensorShape tensor);
  /// Looks up a row of \p table for every row of \p tensor.
  void look_up(std::int64_t table, TensorShape tensor);

 private:
  /// The gradient of a weight is added to what is there.
  void parameter(TensorShape weight);
  void rmsnorm(TensorShape tensor);
  void gelu_tanh(TensorShape tensor);
  void power_backward(TensorShape tensor);

  TapeOptions options_;
  std::int64_t count_ = 1;
};

}}  // namespace c3::studies
