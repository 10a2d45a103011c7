#include "workloads/analysis/step_outline.hpp"

#include "workloads/analysis/shorter_steps.hpp"

namespace c3::inline workloads {

Experiment outline_of_whole(Experiment outline) {
  if (!outline.family) return outline;
  const ProgramFamily& family = *outline.family;
  if (outlined_micro_batches(family, outline.measure.estimate) == family.size().micro_batches) return outline;
  outline.step = family.facts(outline.cluster);
  outline.is_outline = true;
  return outline;
}

Experiment written_whole(const Experiment& outline) { return resized(outline, outline.family->size()); }

LargerOutline larger_outline(const Experiment& outline) {
  const Sizes sizes = micro_batches_of(*outline.family);
  return {.experiment = resized(outline, {outline.family->size().layers, sizes.of[1]}),
          .beyond =
              static_cast<double>(sizes.whole - sizes.of[1]) / static_cast<double>(sizes.of[1] - sizes.of[0])};
}

}  // namespace c3::workloads
