#pragma once
/// The time of a training step from steps of fewer layers and micro-batches.

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

}}  // namespace c3::workloads
