#pragma once
/// How fast a training step is.

#include <optional>

#include "workloads/execute/run_result.hpp"
#include "workloads/execute/step_breakdown.hpp"
#include "workloads/experiment.hpp"

namespace c3 { inline namespace workloads {

/// A training step under one strategy.
struct StepResult {
  StepFacts facts;
  bool is_shortened = false;  ///< its time follows from steps of fewer layers or micro-batches, of which the
                              ///< largest is the timeline's
  StepBreakdown times;        ///< of rank 0, of the median's run
  double mfu = 0;             ///< time of the model flops at peak, see StepFacts, over time
  double hfu = 0;             ///< the same of all flops, recomputed ones too
  std::optional<Seconds> bubble = std::nullopt;  ///< of a pipeline: StepBreakdown::bubble, averaged over GPUs

  bool operator==(const StepResult&) const = default;
};

/// \pre \p experiment is a training step, of which \p run is one
StepResult step_result(const Experiment& experiment, const RunResult& run);

}}  // namespace c3::workloads
