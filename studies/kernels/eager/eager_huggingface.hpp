#pragma once
/// The framework of the kernels study: eager code of HuggingFace transformers 4.36 with PyTorch 2.1, in which
/// each family of models has kernels of its own around its products.

#include <cstdint>
#include <optional>

#include "studies/kernels/eager/eager_tape.hpp"
#include "workloads/models/transformer.hpp"

namespace c3 { inline namespace studies {

/// How a step is run.
struct StepSetup {
  std::int64_t sequences = 1;
  std::int64_t length = 0;  ///< tokens of one sequence; of the encoder's and of the decoder's alike
  bool training = false;
  ModelHead head = ModelHead::language_model;
  bool fused = false;  ///< elementwise kernels join their neighbours, as a compiler does; inference only
  bool attention_kernel = false;  ///< attention in one kernel that keeps no scores
  bool adds_to_gradients = true;  ///< gradients of the step before are kept and added to
  std::optional<std::int64_t> busy_experts = std::nullopt;  ///< among which tokens spread evenly; absent: all
  DType dtype = DType::fp32;

  std::int64_t tokens() const { return sequences * length; }
};

struct FamilyKernels;

class EagerHuggingFace final : public EagerTape {
 public:
  EagerHuggingFace(EagerFamily family, const StepSetup& setup);

 private:
  void write_part(const ModelPart& part) override;
  void embedding(const parts::Embedding& part);
  void relative_bias(const parts::RelativeBias& part);
  void norm(const parts::Norm& part);
  void projection(const parts::Projection& part);
  void attention(const parts::Attention& part);
  void activation(const parts::Activation& part);
  void residual(const parts::Residual& part);
  void dropout(const parts::Dropout& part) { drop(tokens_of(part.width)); }
  void router(const parts::Router& part);
  void experts(const parts::Experts& part);
  void classes(const parts::Classes& part);
  void loss(const parts::Loss& part);

  void attention_kernel(const parts::Attention& part);
  void scores_and_values(const parts::Attention& part);
  void head_copies(TensorShape heads);

  TensorShape tokens_of(std::int64_t width) const { return {tokens_, width}; }
  TensorShape scores_of(std::int64_t heads) const {
    return {setup_.sequences * heads * setup_.length, setup_.length};
  }

  StepSetup setup_;
  const FamilyKernels& kernels_;
  std::int64_t tokens_;  ///< that the parts being written run
};

}}  // namespace c3::studies
