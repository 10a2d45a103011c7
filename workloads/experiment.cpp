#include "workloads/experiment.hpp"

#include <utility>

#include "gpu/kernels/operator_class.hpp"

namespace c3 { inline namespace workloads {

std::optional<StepItems> items_of(const Experiment& experiment) {
  return experiment.step ? StepItems{StepItem::tokens, experiment.step->tokens} : experiment.items;
}

int usual_seeds(const Experiment& experiment) {
  return experiment.family || experiment.cluster.nodes > 1 ? 1 : 8;
}

void set_step(Experiment& experiment, std::shared_ptr<const ProgramFamily> family) {
  WrittenStep step = family->write(experiment.cluster);
  experiment.program = std::move(step.program);
  experiment.step = std::move(step.facts);
  experiment.family = SharedFamily(std::move(family));
}

KernelGrain grain_of(const Measure& measure, const Operator& op) {
  return op.of_class().has_product() ? measure.kernel_grain : measure.vector_grain;
}

}}  // namespace c3::workloads
