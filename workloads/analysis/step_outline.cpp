#include "workloads/analysis/step_outline.hpp"

#include <utility>

#include "workloads/analysis/shorter_steps.hpp"

namespace c3 { inline namespace workloads {

void set_outline(Experiment& experiment, std::shared_ptr<const ProgramFamily> family) {
  StepFacts facts = family->facts(experiment.cluster);
  if (facts.fits()) return set_step(experiment, std::move(family));
  experiment.step = std::move(facts);
  experiment.family = SharedFamily(std::move(family));
}

Experiment outlined(const Experiment& experiment, const StepSize& size) {
  Experiment other{.name = experiment.name,
                   .cluster = experiment.cluster,
                   .program = {},
                   .strategies = experiment.strategies,
                   .measure = experiment.measure};
  set_outline(other, experiment.family->at(size));
  return other;
}

std::int64_t outlined_micro_batches(const Experiment& outline) {
  return outlined_micro_batches(*outline.family, outline.measure.estimate);
}

Experiment outline_of_whole(Experiment outline) {
  if (!outline.family) return outline;
  const ProgramFamily& family = *outline.family;
  if (outlined_micro_batches(outline) == family.size().micro_batches) return outline;
  const bool is_written = outline.step->fits();
  outline.step = family.facts(outline.cluster);
  outline.is_outline = true;
  return outline.step->fits() && !is_written ? written_whole(outline) : outline;
}

Experiment with_program(Experiment outline) {
  if (!outline.family || !outline.program.streams.empty()) return outline;
  outline.program = resized(outline, {outline.family->size().layers, outlined_micro_batches(outline)}).program;
  return outline;
}

Experiment written_whole(const Experiment& outline) { return resized(outline, outline.family->size()); }

LargerOutline larger_outline(const Experiment& outline) {
  const Sizes sizes = micro_batches_of(*outline.family);
  return {.experiment = resized(outline, {outline.family->size().layers, sizes.of[1]}),
          .beyond =
              static_cast<double>(sizes.whole - sizes.of[1]) / static_cast<double>(sizes.of[1] - sizes.of[0])};
}

}}  // namespace c3::workloads
