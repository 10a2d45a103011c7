#include "workloads/models/training_kernels.hpp"

#include <utility>

#include "workloads/models/own_part.hpp"
#include "workloads/models/styles/style.hpp"

namespace c3 { inline namespace workloads {

BlockKernels lower(std::span<const ModelPart> parts, const Framework& framework, const TokenBatch& batch) {
  const std::unique_ptr<TrainingLowering> lowering = framework.kernels->lowering(framework, batch);
  return std::move(*lowering).lower(parts);
}

namespace {

struct Tensors {
  bool separate_projections;
  bool experts_apart;

  int operator()(const parts::Embedding& part) const {
    return part.is_shared ? 0 : static_cast<int>(part.rows.size());
  }
  int operator()(const parts::Norm& part) const { return part.formula == Norm::layernorm ? 2 : 1; }
  int operator()(const parts::HeadNorm& part) const { return part.formula == Norm::layernorm ? 4 : 2; }
  int operator()(const parts::Adapter& part) const { return 2 * static_cast<int>(part.outputs.size()); }
  int operator()(const parts::Projection& part) const {
    const int weights = separate_projections ? static_cast<int>(part.outputs.size()) : 1;
    return (part.is_tied ? 0 : weights) + (part.has_bias ? weights : 0);
  }
  int operator()(const parts::Attention& part) const {
    return (part.has_sinks ? 1 : 0) + (part.position_inputs > 0 ? 5 : 0);
  }
  int operator()(const parts::Classes& /*part*/) const { return 4; }
  int operator()(const parts::Router& part) const { return part.has_bias ? 2 : 1; }
  int operator()(const parts::Experts& part) const {
    int sum = 0;
    for (const ModelPart& expert_part : part.expert_parts) {
      const bool is_of_every_expert =
          experts_apart && !std::holds_alternative<parts::Adapter>(expert_part.kind);
      sum += std::visit(*this, expert_part.kind) * (is_of_every_expert ? static_cast<int>(part.count) : 1);
    }
    return sum;
  }
  int operator()(const parts::Own& own) const { return own.part->parameter_tensors(); }
  template <typename Other>
  int operator()(const Other& /*part*/) const {
    return 0;
  }
};

}  // namespace

int parameter_tensors(std::span<const ModelPart> parts, const Framework& framework) {
  const Tensors tensors{framework.separate_projections, framework.experts_apart};
  int sum = 0;
  for (const ModelPart& part : parts)
    sum += std::visit(tensors, part.kind);
  return sum;
}

}}  // namespace c3::workloads
