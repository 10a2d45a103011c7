#include "studies/training/memory_verdicts.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "studies/training/memory_layouts.hpp"
#include "studies/training/step_numbers.hpp"

namespace c3::inline studies {

StudySection memory_verdicts(const std::vector<Experiment>& ran, const PublishedFigures& published) {
  StudySection section{
      .heading = "Memory: steps that ran, and steps that are too large", .lines = {}, .notes = {}};
  StudyLine refused{.figure = {.of = published.find("memory.ran_refused")},
                    .label = "ran and are refused",
                    .rows = ran.size()};
  double most = 0.0, tight = 0.0;
  refused.figure.simulated = 0.0;
  for (const Experiment& step : ran) {
    if (!step.step->fits()) *refused.figure.simulated += 1.0;
    if (step.step->is_tight()) tight += 1.0;
    most = std::max(most, step.step->memory.held / step.step->memory_size);
  }
  refused.beside = {{"most needed [%]", kPercent * most}, {"reserve more than there is", tight}};
  section.lines.push_back(std::move(refused));

  const std::vector<LargeLayout> layouts = layouts_too_large();
  StudyLine large{.figure = {.of = published.find("memory.large_refused")},
                  .label = "too large by 3 to 10 % and are refused",
                  .rows = layouts.size()};
  double least = layouts.empty() ? 0.0 : layouts.front().needed;
  large.figure.simulated = 0.0;
  for (const LargeLayout& layout : layouts) {
    const StepFacts& facts = *layout.experiment.step;
    if (!facts.fits()) *large.figure.simulated += 1.0;
    least = std::min(least, facts.memory.held / facts.memory_size);
  }
  large.beside = {{"least needed [%]", kPercent * least}};
  section.lines.push_back(std::move(large));
  section.notes = {
      "Needed: what the allocator cannot free, of what the framework leaves of a GPU's memory. A step that "
      "reserves more than there is runs, and frees its cache on the way.",
      "Too large: thirty layouts of shipped models, GPUs and frameworks, by a count of their tensors."};
  return section;
}

}  // namespace c3::studies
