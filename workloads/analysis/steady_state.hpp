#pragma once
/// The time of a training step from steps of fewer layers and micro-batches.

#include <optional>

#include "workloads/analysis/shorter_steps.hpp"
#include "workloads/execute/run.hpp"

namespace c3 { inline namespace workloads {

/// As run_once, from where the governors of its GPUs stand when it is repeated (periodic_start). A step of many
/// layers or micro-batches (`Measure::exact` is not set) is not simulated whole: once the layers in the middle,
/// and the micro-batches after the first ones, each add the same time, the rest of them are counted at that.
/// Steps of 3, 5 and 7 layers (4, 6 and 8 of an even number) and of 2, 3 and 4 micro-batches (of more, in a
/// pipeline) tell whether they do, within 1 %; where they do not, larger ones are tried up to half of the step,
/// and then the whole step is simulated. A note says which it was. Wrong when: something drifts by less than
/// that from layer to layer, such as how far a host is ahead.
RunResult run_step(const Experiment& experiment, const Strategy& strategy, const RunSetup& setup);
/// The same of a step that is run several times.
RunResult run_step(ShorterSteps& steps, const Strategy& strategy, const RunSetup& setup);

/// Sizes of a step of which each adds what the one before it added.
struct SteadySizes {
  Sizes layers, micro_batches;

  bool operator==(const SteadySizes&) const = default;
};

/// A step that variants of it are to be compared with.
struct ComparedStep {
  RunResult run;                                     ///< as run_step() gives it
  std::optional<SteadySizes> sizes = std::nullopt;   ///< absent where no sizes were steady
  std::optional<RunResult> from_two = std::nullopt;  ///< as run_variant() gives it; absent without sizes
};
ComparedStep run_step_to_compare(ShorterSteps& steps, const Strategy& strategy, const RunSetup& setup);

/// What follows for a whole step from the smaller two of each of \p sizes, for a fraction of what run_step()
/// costs. Only to be compared with other variants of the step that was steady at \p sizes: what all of them
/// miss cancels out. Wrong when: the variant is not steady there, which nobody checks.
RunResult run_variant(ShorterSteps& steps, const Strategy& strategy, const RunSetup& setup,
                      const SteadySizes& sizes);

}}  // namespace c3::workloads
