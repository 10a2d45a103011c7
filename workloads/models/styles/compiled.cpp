// PyTorch modules through Inductor: elementwise neighbours in one kernel, which computes cheap tensors again
// instead of keeping them.

#include <utility>

#include "workloads/models/styles/style.hpp"

namespace c3 { inline namespace workloads {
namespace {

class Compiled final : public TrainingLowering {
 public:
  using TrainingLowering::TrainingLowering;

 private:
  void norm(const parts::Norm& part) override;
  void residual(const parts::Residual& part) override;
  void gated(VectorOp function, TensorShape tensor) override;
  void wide_loss(TensorShape logits) override;

  bool is_after_sum_ = false;  ///< the sum before this norm is made by the norm's kernel
};

// One kernel has the sum before the norm as well: two tensors in, two out; backward a gradient more comes in.
void Compiled::norm(const parts::Norm& part) {
  if (!std::exchange(is_after_sum_, false)) return TrainingLowering::norm(part);
  const TensorShape tensor = past_blocks(part.width);
  fused_norm(part.formula, tensor, {tensor.rows, 2 * tensor.cols}, {tensor.rows, tensor.cols * 4 / 3},
             kept_of_norm(part.width));
}

// The norm's backward kernel adds the gradients.
void Compiled::residual(const parts::Residual& part) {
  is_after_sum_ = is_before_norm();
  if (is_after_sum_) return;
  const TensorShape tensor = past_blocks(part.width);
  forward(sum_kernel(), tensor, mask(tensor));
  if (framework().dropout) backward(VectorOp::mul_scalar, tensor);
}

// The product is computed again from its factors, in the kernel that makes their gradients.
void Compiled::gated(VectorOp function, TensorShape tensor) {
  VectorChain chain = function;
  chain.append(VectorOp::mul);
  forward(chain, tensor);
  backward(chain, tensor, Pass::backward);
}

// Zeros but for each token's own word are part of the softmax's backward kernel.
void Compiled::wide_loss(TensorShape logits) {
  widen(logits);
  forward_wide(VectorOp::softmax, logits, wide_size(logits));
  backward_wide(VectorOp::softmax, logits, Pass::backward);
  narrow_back(logits);
}

}  // namespace

extern constexpr StyleEntry kCompiledStyle = {
    .name = "compiled", .lowering = make_style<Compiled>, .norm_cast = NormCast::scale};

}}  // namespace c3::workloads
