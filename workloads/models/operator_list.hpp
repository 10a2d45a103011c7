#pragma once
/// The kernels of one step of a transformer as a flat list, and how the step is run.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gpu/kernels/operator.hpp"
#include "gpu/spec.hpp"

namespace c3 {

struct CountedOperator {
  std::string part;  ///< of the model, e.g. "attn.qkv"
  Operator op;
  std::int64_t count = 1;

  bool operator==(const CountedOperator&) const = default;
};

using OperatorList = std::vector<CountedOperator>;

struct StepOperators {
  OperatorList forward;
  OperatorList loss;      ///< forward of the cross entropy; empty for inference
  OperatorList backward;  ///< of loss and model, in the order of the pass; empty for inference
};

/// What follows the last layer.
enum class ModelHead {
  language_model,  ///< logits of every token, from the embedding's weights
  classifier,      ///< BERT's pooler and two classes of each sequence
  pretraining,     ///< BERT's: masked language model, and next sentence prediction, which no loss is taken of
};

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

}  // namespace c3
