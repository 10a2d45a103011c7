// Megatron-LM's fused kernels: norm; bias and activation; bias, dropout and residual.

#include "workloads/models/styles/style.hpp"

namespace c3 { inline namespace workloads {
namespace {

class Megatron final : public TrainingLowering {
 public:
  using TrainingLowering::TrainingLowering;

 private:
  void embedding(const parts::Embedding& part) override;
  /// Other biases are added by the fused kernels that follow (megatron/core/tensor_parallel/layers.py,
  /// skip_bias_add).
  bool adds_bias() const override { return part_is(Role::qkv); }
  void rotate(TensorShape tensor, Bytes kept) override;
  void wide_loss(TensorShape logits) override;
  /// With sequence parallelism a product is of all tokens: kept is this GPU's part, which is gathered again.
  Bytes norm_output(std::int64_t width) const override { return size(past_blocks(width)); }
  /// Launches \p kernels kernels that handle one number a token; their memory does not matter.
  void of_tokens(int kernels, Pass pass);
};

// They take the host as long as any other, and the GPU hardly any time.
void Megatron::of_tokens(int kernels, Pass pass) {
  const VectorShape numbers = vector_shape(VectorOp::copy, tokens_of(1), DType::fp32);
  for (int kernel = 0; kernel < kernels; ++kernel)
    (pass == Pass::forward ? forward(numbers) : push_backward(numbers)).output = Bytes{};
}

// First what a batch is made into (megatron/training/utils.py): tokens, labels, masks and positions. Where
// ranks share the table, words of others are found (two comparisons, their union), numbered from the rank's
// first (a copy, a difference), set to zero, and so are their rows (megatron/core/tensor_parallel/layers.py).
void Megatron::embedding(const parts::Embedding& part) {
  constexpr int kBatch = 6, kOthers = 6;
  of_tokens(kBatch + (part.is_divided ? kOthers : 0), Pass::forward);
  TrainingLowering::embedding(part);
  if (!part.is_divided) return;
  forward(VectorOp::mul_scalar, tokens_of(part.width)).output = Bytes{};
  backward(VectorOp::mul_scalar, tokens_of(part.width));
}

void Megatron::rotate(TensorShape tensor, Bytes kept) {
  forward(VectorOp::mul_scalar, tensor, kept);
  backward(VectorOp::mul_scalar, tensor);
}

// Runs what Megatron runs for words on several ranks: largest logit, difference, exponential, sum, quotient;
// backward the quotient less one at each token's own word, times the gradient. All from the difference on in
// its memory. Between them are kernels on numbers of tokens (megatron/core/tensor_parallel/cross_entropy.py and
// pretrain_gpt.py): words of other ranks masked and own logits looked up; logarithm, difference, mask, mean
// over tokens and over ranks, scale; backward the gradient of these, and the share of each token's own word.
void Megatron::wide_loss(TensorShape logits) {
  constexpr int kOwnWords = 10, kMean = 10, kGradients = 10;
  widen(logits);
  forward_wide(VectorOp::reduce, logits);
  forward_wide(VectorOp::sub_scalar, logits, wide_size(logits));
  of_tokens(kOwnWords, Pass::forward);
  forward_wide(VectorOp::exp, logits).output = Bytes{};
  forward_wide(VectorOp::reduce, logits);
  forward_wide(VectorOp::div_scalar, logits).output = Bytes{};
  of_tokens(kMean, Pass::forward);
  of_tokens(kGradients, Pass::backward);
  backward_wide(VectorOp::mul_scalar, logits).output = Bytes{};
  narrow_back(logits);
}

}  // namespace

extern constexpr StyleEntry kMegatronStyle = {.name = "megatron",
                                              .lowering = make_style<Megatron>,
                                              .recomputes_to_end = true,
                                              .gathers_again = true,
                                              .keeps_casts = true,
                                              .norm_cast = NormCast::whole};

}}  // namespace c3::workloads
