#pragma once
/// Makes the list of step_operators.hpp: which kernels each part of a model launches.

#include <string>
#include <vector>

#include "gpu/kernels/vector/vector_shape.hpp"
#include "workloads/models/model_dimensions.hpp"
#include "workloads/models/eager_tape.hpp"

namespace c3 {

/// What a family's eager code launches around its products, in HuggingFace transformers 4.36 with PyTorch 2.1.
struct FamilyKernels {
  bool one_projection;              ///< queries, keys and values by one GEMM, then split
  bool scales_queries;              ///< instead of scores
  bool always_copies;               ///< heads next to each other in memory, also where a view would do
  bool drops_scores;                ///< in training
  bool drops_ffn;                   ///< within the feed-forward layer, in training
  std::vector<VectorOp> on_scores;  ///< before the softmax
};

const FamilyKernels& kernels_of(EagerFamily family);

/// \pre the model says its family. Model and setup must outlive the writer.
class StepWriter {
 public:
  StepWriter(const ModelDimensions& model, const StepSetup& setup)
      : model_(model), setup_(setup), kernels_(kernels_of(*model.family)), tape_(setup) {}

  StepOperators write();

 private:
  void embeddings();
  void layers(bool causal, bool crossed);
  void self_attention(bool causal);
  void cross_attention();
  void projections(const std::string& part, bool from_other);
  void attend(const std::string& part, bool causal);
  void scores_and_values(const std::string& part);
  void head_copies(const std::string& part);
  void feed_forward(std::int64_t tokens);
  void experts(std::int64_t layers);
  void relative_bias();
  void block_start(const std::string& part);
  void block_end(const std::string& part);
  void head();
  void pooled_classes();

  Rows hidden() const { return {setup_.tokens(), model_.hidden}; }
  Rows heads() const { return {setup_.tokens(), model_.attention_width()}; }
  Rows scores() const { return {setup_.sequences * model_.heads * setup_.length, setup_.length}; }
  void linear(const std::string& part, std::int64_t tokens, std::int64_t outputs, std::int64_t inputs) {
    tape_.linear(part, tokens, outputs, inputs, model_.biases);
  }

  const ModelDimensions& model_;
  const StepSetup& setup_;
  const FamilyKernels& kernels_;
  Tape tape_;
};

}  // namespace c3
