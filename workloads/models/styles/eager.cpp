// PyTorch modules as they are written: a kernel for each operation.

#include "workloads/models/styles/style.hpp"

namespace c3 { inline namespace workloads {
namespace {

class Eager final : public TrainingLowering {
 public:
  using TrainingLowering::TrainingLowering;

 private:
  void norm_of_rows(Norm formula, TensorShape tensor, Bytes kept) override;
  bool norms_are_eager() const override { return true; }
  void residual(const parts::Residual& part) override;
  void before_softmax(TensorShape scores) override;
  void gated(VectorOp function, TensorShape tensor) override;
};

// x rsqrt(mean(x^2) + epsilon) in fp32, then times the weight in the layer's type, a kernel each.
void Eager::norm_of_rows(Norm formula, TensorShape tensor, Bytes kept) {
  if (formula != Norm::rmsnorm) return TrainingLowering::norm_of_rows(formula, tensor, kept);
  const TensorShape row_numbers{tensor.rows, 1};
  widen(tensor, wide_size(tensor));
  forward_wide(VectorOp::pow_scalar, tensor);
  forward_wide(VectorOp::reduce, tensor);
  forward_wide(VectorOp::add_scalar, row_numbers);
  forward_wide(VectorOp::pow_scalar, row_numbers);
  forward_wide(VectorOp::mul_scalar, tensor);
  narrow(tensor, size(tensor));
  forward(VectorOp::mul_scalar, tensor, kept);

  backward(VectorOp::mul_scalar, tensor);  // by the weight; its own gradient is a product and a sum
  if (!norm_is_frozen()) {
    backward(VectorOp::mul, tensor);
    backward(VectorOp::reduce, {tensor.cols, tensor.rows}).gradient = size({1, tensor.cols});
  }
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

void Eager::residual(const parts::Residual& part) {
  const TensorShape tensor = past_blocks(part.width);
  if (framework().dropout) forward(VectorOp::mul_scalar, tensor, mask(tensor));
  forward(VectorOp::add, tensor, mask(tensor));
  backward(VectorOp::add, tensor);
  if (framework().dropout) backward(VectorOp::mul_scalar, tensor);
}

void Eager::before_softmax(TensorShape scores) {
  forward(VectorOp::mul_scalar, scores);
  forward(VectorOp::add_scalar, scores);
  backward(VectorOp::mul_scalar, scores);
}

void Eager::gated(VectorOp function, TensorShape tensor) {
  forward(function, tensor, size(tensor));
  forward(VectorOp::mul, tensor, kept_for_next(size(tensor)));
  backward(VectorOp::mul, tensor);
  backward(VectorOp::mul, tensor);
  backward(function, tensor, Pass::backward);
}

}  // namespace

extern constexpr StyleEntry kEagerStyle = {.name = "eager", .lowering = make_style<Eager>};

}}  // namespace c3::workloads
