#include "workloads/analysis/step_result.hpp"

#include "workloads/analysis/average_breakdown.hpp"

namespace c3 { inline namespace workloads {

StepResult step_result(const Experiment& experiment, const RunResult& run) {
  const StepFacts& facts = *experiment.step;
  return {.facts = facts,
          .is_shortened = run.is_shortened,
          .times = run.classes.front().times,
          .mfu = facts.model_at_peak() / run.time,
          .hfu = facts.hardware_at_peak() / run.time,
          .bubble = facts.pipeline ? std::optional(average_breakdown(run.classes).bubble) : std::nullopt};
}

}}  // namespace c3::workloads
