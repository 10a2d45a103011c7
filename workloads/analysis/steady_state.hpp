#pragma once
/// The time of a training step from steps of fewer layers and micro-batches.

#include <memory>

#include "workloads/analysis/shorter_steps.hpp"
#include "workloads/execute/kernel_samples.hpp"
#include "workloads/execute/run.hpp"

namespace c3 { inline namespace workloads {

/// As run_once, from where the governors of its GPUs stand when it is repeated (periodic_start). A step of many
/// layers or micro-batches (`Measure::exact` is not set) is not simulated whole: once the layers in the middle,
/// and the micro-batches after the first ones, each add the same time, the rest of them are counted at that.
/// Steps of 3, 5 and 7 layers (4, 6 and 8 of an even number) and of 2, 3 and 4 micro-batches (of more, in a
/// pipeline) tell whether they do, within 1 %; where they do not, larger ones are tried up to half of the step,
/// and then the whole step is simulated. A note says which it was. Wrong when: something drifts by less than
/// that from layer to layer, such as how far a host is ahead.
/// At KernelGrain::automatic kernels that the smallest of these steps has known are replayed in the others, for
/// 0.3 % of the sum of their times at 95 %. Steps whose layers alone repeat are simulated: in few layers of one
/// micro-batch hardly any kernel repeats often enough to be known.
RunResult run_step(const Experiment& experiment, const Strategy& strategy, const RunSetup& setup);
/// The same of a step that is run several times.
RunResult run_step(ShorterSteps& steps, const Strategy& strategy, const RunSetup& setup);

/// For a run of a part of \p experiment whose kernels may be replayed; nullptr where none are.
std::shared_ptr<KernelSamples> new_samples(const Experiment& experiment);

}}  // namespace c3::workloads
