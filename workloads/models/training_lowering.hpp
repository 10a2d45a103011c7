#pragma once
/// Base of the frameworks that train in mixed precision: the kernels that their styles have in common, what
/// those keep for the backward pass, and the gradients that they make.

#include <cstdint>
#include <vector>

#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "workloads/models/framework.hpp"
#include "workloads/models/lowering.hpp"
#include "workloads/models/token_batch.hpp"

namespace c3 { inline namespace gpu {
struct AttentionShape;
}}

namespace c3 { inline namespace workloads {

/// Base of the styles (styles/): each overrides what it does unlike the others.
class TrainingLowering : public Lowering {
 public:
  /// \p framework must outlive it.
  TrainingLowering(const Framework& framework, const TokenBatch& batch)
      : framework_(framework), batch_(batch) {}

 protected:
  virtual void embedding(const parts::Embedding& part);
  virtual void norm(const parts::Norm& part);
  virtual void residual(const parts::Residual& part);
  /// The loss by separate kernels, of logits in fp32.
  virtual void wide_loss(TensorShape logits);
  /// Normalises each row of \p tensor. \param kept bytes of its output that stay
  virtual void norm_of_rows(Norm formula, TensorShape tensor, Bytes kept);
  /// A norm of \p tensor in one kernel, which reads and writes tensors of the shapes of \p forward_tensor and
  /// \p backward_tensor.
  void fused_norm(Norm formula, TensorShape tensor, TensorShape forward_tensor, TensorShape backward_tensor,
                  Bytes kept);
  /// Whether the bias of the projection that is being written is added by a kernel of its own, and not by the
  /// product's.
  virtual bool adds_bias() const { return false; }
  /// Whether norms are PyTorch's own kernels (VectorShape::is_eager) and not a library's or a compiler's.
  virtual bool norms_are_eager() const { return false; }
  /// Rotates queries or keys.
  virtual void rotate(TensorShape tensor, Bytes kept);
  /// Kernels of their own that scale and mask scores; else the softmax does it.
  virtual void before_softmax(TensorShape /*scores*/) {}
  /// \p function and the product with the other half.
  virtual void gated(VectorOp function, TensorShape tensor);
  /// Bytes of a norm's output, as they are kept for the product after it.
  virtual Bytes norm_output(std::int64_t width) const { return size({batch_.tokens(), width}); }

  /// The same, where that product keeps no cast of it; of the tokens that run past the blocks where they are
  /// not gathered for it.
  Bytes kept_of_norm(std::int64_t width) const;
  /// How many of \p bytes stay for the part behind this one, which they feed: none where that is a
  /// product that keeps its cast input.
  Bytes kept_for_next(Bytes bytes) const;
  /// Casts for products in a recipe's type, in the pass and at the place where they are launched. \p norm: what
  /// a norm's kernel has done of it.
  /// \param trained the weight gets a gradient
  void cast_input(TensorShape tensor, bool trained, NormCast norm = NormCast::none);
  void cast_weight(TensorShape weight);
  void cast_gradient(TensorShape tensor, bool trained);
  /// Backward, what the forward pass has not left.
  void cast_again(TensorShape input, TensorShape weight, bool trained);
  /// The layer's product \p gemm with the recipe's types for it and its two gradients.
  GemmShape in_recipe(GemmShape gemm) const;

  /// One kernel that drops, where the framework does, and adds.
  VectorChain sum_kernel() const;

  PartKernel& forward(const Operator& op, Bytes kept = {});
  PartKernel& forward(VectorChain chain, TensorShape tensor, Bytes kept = {});
  PartKernel& backward(VectorChain chain, TensorShape tensor, Pass pass = Pass::forward);
  /// The same in fp32, where a norm or a loss is computed so.
  PartKernel& forward_wide(VectorChain chain, TensorShape tensor, Bytes kept = {});
  PartKernel& backward_wide(VectorChain chain, TensorShape tensor, Pass pass = Pass::forward);
  /// widen() casts the layer's type to fp32, narrow() casts it back.
  void widen(TensorShape tensor, Bytes kept = {});
  void narrow(TensorShape tensor, Bytes kept = {});
  void widen_back(TensorShape tensor);
  void narrow_back(TensorShape tensor);

  bool norm_is_frozen() const { return norm_is_frozen_; }

  const Framework& framework() const { return framework_; }
  TensorShape past_blocks(std::int64_t width) const { return {batch_.between, width}; }
  TensorShape tokens_of(std::int64_t width) const { return {batch_.tokens(), width}; }
  Bytes size(TensorShape tensor) const;       ///< in the layer's type
  Bytes wide_size(TensorShape tensor) const;  ///< in fp32
  Bytes mask(TensorShape tensor) const;       ///< of dropout, a byte an element; none without dropout

 private:
  void write_part(const ModelPart& part) override;
  void dropout(const parts::Dropout& part);
  void projection(const parts::Projection& part);
  void projections(const parts::Projection& part);
  void head_norm(const parts::HeadNorm& part);
  void rotation(const parts::Rotation& part);
  void attention(const parts::Attention& part);
  void activation(const parts::Activation& part);
  void loss(const parts::Loss& part);
  void latent_rotation(const parts::LatentRotation& part);
  void router(const parts::Router& part);
  void experts(const parts::Experts& part);
  void classes(const parts::Classes& part);
  void pick(const parts::Picked& part);
  class AdapterPair;
  void adapter(const parts::Adapter& part);
  class OwnWriter;
  void own(const parts::Own& part);
  void move_rows(std::int64_t from, std::int64_t to, std::int64_t width);

  void write_kernels(const ModelPart& part);
  void linear(const parts::Projection& part, std::int64_t outputs);
  bool is_of_layer() const { return is_of_layer(block()); }
  static bool is_of_layer(BlockId block) {
    return block == BlockId::self_attention || block == BlockId::cross_attention ||
           block == BlockId::linear_attention || block == BlockId::state_space ||
           block == BlockId::feed_forward || block == BlockId::experts || block == BlockId::shared_experts;
  }
  bool casts() const { return batch_.precision.recipe->dtype.has_value(); }
  /// The part behind the one that is being written and the adapter beside it; nullptr at the end.
  const ModelPart* next_but_adapter() const;
  /// Whether \p part, nullptr or not, is a product whose weight gets a gradient.
  static bool trains(const ModelPart* part);
  /// Whether \p part, nullptr or not, is a product of a layer, which the recipe's type computes.
  bool is_cast(const ModelPart* part) const;
  bool keeps_casts() const;  ///< of inputs, for gradients of weights
  /// How much of the cast behind it the norm that is being written does.
  NormCast cast_by_norm() const;
  std::vector<VectorShape> casts_of(const TensorCasts& casts, bool both, TensorShape tensor) const;
  VectorShape transposed_copy(TensorShape tensor) const;
  void separate_loss(TensorShape logits);
  void fused_loss(TensorShape logits);
  /// Whether the loss keeps the logits as their product makes them.
  bool keeps_logits() const { return framework_.cross_entropy != CrossEntropy::separate && !widens_logits(); }
  bool widens_logits() const { return framework_.loss_dtype == DType::fp32 && batch_.dtype != DType::fp32; }
  AttentionShape shape_of(const parts::Attention& part) const;
  static AttentionShape in_chunks(AttentionShape shape, const parts::Attention& part);
  void attention_kernel(const parts::Attention& part);
  void quantized_attention(const parts::Attention& part);
  /// Whether attention of this layer reads 8 bits, and nobody keeps what it casts.
  bool quantizes_attention() const { return casts() && batch_.precision.attention; }
  bool quantizes_activations() const { return casts() && batch_.precision.activations && is_of_layer(); }
  /// Casts 8 bits to the layer's type.
  VectorShape dequantized(TensorShape tensor) const;
  void keep_quantized(TensorShape tensor);
  class ContextAttention;
  /// Attention of ranks that share sequences, with their exchanges (context_attention.cpp).
  void context_attention(const parts::Attention& part);
  void scores_and_values(const parts::Attention& part);
  void batched_product(const GemmShape& gemm);
  /// Scores of \p part by positions and segments, added to those by tokens.
  void position_scores(const parts::Attention& part, TensorShape scores);
  /// Launches with which one of attention's products or softmaxes costs the host.
  int launches_of_attention() const {
    return framework_.sequences_apart ? static_cast<int>(batch_.sequences) : 1;
  }
  /// What a norm keeps as a layer's input where its input has \p of_input bytes and its output \p of_output.
  Bytes kept_as_layer_input(Bytes of_input, Bytes of_output) const;
  VectorShape cast_of(TensorShape tensor) const;
  bool repeats_heads(std::int64_t heads, std::int64_t kv_heads) const {
    return !framework_.grouped_heads && kv_heads < heads;
  }

  const Framework& framework_;
  TokenBatch batch_;
  int products_ = 0;                ///< of this layer so far
  Bytes unmade_;                    ///< to be kept by the next kernel: no cast made it
  bool input_is_cast_ = false;      ///< of the next product, behind the norm that made it
  bool reads_layer_input_ = false;  ///< the norm that is being written
  bool norm_is_frozen_ = false;     ///< the one that is being written
  bool product_is_frozen_ = false;  ///< the last one
  bool casts_gradient_ = false;     ///< the next residual sum casts the gradient of the product before it
  std::int64_t experts_ = 1;        ///< whose products of the part that is being written are one
};

}}  // namespace c3::workloads
