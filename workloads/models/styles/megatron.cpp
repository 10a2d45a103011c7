// Megatron-LM's fused kernels: norm; bias and activation; bias, dropout and residual.

#include "workloads/models/styles/style.hpp"

namespace c3::inline workloads {
namespace {

class Megatron final : public TrainingLowering {
 public:
  using TrainingLowering::TrainingLowering;

 private:
  void rotate(TensorShape tensor, Bytes kept) override;
  void wide_loss(TensorShape logits) override;
  /// With sequence parallelism a product is of all tokens: kept is this GPU's part, which is gathered again.
  Bytes norm_output(std::int64_t width) const override { return size(past_blocks(width)); }
};

void Megatron::rotate(TensorShape tensor, Bytes kept) {
  forward(VectorOp::mul_scalar, tensor, kept);
  backward(VectorOp::mul_scalar, tensor);
}

// As when words are on several ranks: largest logit, difference, exponential, sum, quotient; backward the
// quotient less one at each token's own word, times the gradient. All from the difference on in its memory.
void Megatron::wide_loss(TensorShape logits) {
  widen(logits);
  forward_wide(VectorOp::reduce, logits);
  forward_wide(VectorOp::sub_scalar, logits, wide_size(logits));
  forward_wide(VectorOp::exp, logits).output = Bytes{};
  forward_wide(VectorOp::reduce, logits);
  forward_wide(VectorOp::div_scalar, logits).output = Bytes{};
  backward_wide(VectorOp::mul_scalar, logits).output = Bytes{};
  narrow_back(logits);
}

}  // namespace

extern constexpr StyleEntry kMegatronStyle = {
    .name = "megatron", .lowering = make_style<Megatron>, .recomputes_to_end = true, .gathers_again = true};

}  // namespace c3::workloads
