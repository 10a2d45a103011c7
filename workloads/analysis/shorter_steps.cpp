#include "workloads/analysis/shorter_steps.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace c3 { inline namespace workloads {

Sizes layers_of(const ProgramFamily& family) {
  const std::int64_t layers = family.size().layers;
  // What is left out is whole periods.
  const std::int64_t period = std::max<std::int64_t>(2, family.layer_period());
  const std::int64_t rest = layers % period;
  const std::int64_t fewest = rest == 0 ? 2 * period : period + rest;
  return {{fewest, fewest + period, fewest + 2 * period}, layers};
}

Sizes micro_batches_of(const ProgramFamily& family) {
  const std::int64_t fewest = family.fewest_micro_batches(), period = family.micro_batch_period();
  const std::int64_t rest = family.size().micro_batches % period;
  const std::int64_t first = fewest + (rest + period - fewest % period) % period;
  return {{first, first + period, first + 2 * period}, family.size().micro_batches};
}

std::string part_text(const Sizes& layers, const Sizes& micro_batches) {
  const auto part = [](const Sizes& sizes, const char* what) {
    return sizes.is_shortened() ? fmt::format("{} of {} {}", sizes.of[2], sizes.whole, what) : std::string();
  };
  const std::string of_layers = part(layers, "layers"), of_batches = part(micro_batches, "micro-batches");
  return of_layers + (of_layers.empty() || of_batches.empty() ? "" : " and ") + of_batches;
}

Experiment resized(const Experiment& experiment, const StepSize& size) {
  Experiment smaller{.name = experiment.name,
                     .cluster = experiment.cluster,
                     .program = {},  // that of the whole step is long
                     .strategies = experiment.strategies,
                     .measure = experiment.measure};
  set_step(smaller, experiment.family->at(size));
  return smaller;
}

bool may_be_shortened(const Experiment& experiment) {
  if (!experiment.family || experiment.measure.estimate != Estimator::steady) return false;
  return layers_of(*experiment.family).is_shortened() || micro_batches_of(*experiment.family).is_shortened();
}

std::shared_ptr<const ProgramFamily> smallest(const ProgramFamily& family) {
  return family.at({layers_of(family).first(), micro_batches_of(family).first()});
}

Experiment smallest(const Experiment& experiment) {
  return resized(experiment, smallest(*experiment.family)->size());
}

const Experiment& ShorterSteps::at(const StepSize& size) {
  const auto found = written_.find(size);
  return found != written_.end() ? found->second : written_.emplace(size, resized(whole_, size)).first->second;
}

const Experiment& ShorterSteps::smallest() { return at(workloads::smallest(*whole_.family)->size()); }

std::int64_t outlined_micro_batches(const ProgramFamily& family, Estimator estimator) {
  const Sizes sizes = micro_batches_of(family);
  const bool is_shorter = sizes.is_shortened() && sizes.of[0] + sizes.of[1] < sizes.whole;
  return estimator == Estimator::steady && is_shorter ? sizes.of[0] : sizes.whole;
}

std::string abridged_part(const Experiment& experiment) {
  return part_text(layers_of(*experiment.family), micro_batches_of(*experiment.family));
}

Experiment abridged(const Experiment& experiment) {
  const Sizes layers = layers_of(*experiment.family);
  const Sizes micro_batches = micro_batches_of(*experiment.family);
  return resized(experiment, {layers.last(), micro_batches.last()});
}

}}  // namespace c3::workloads
