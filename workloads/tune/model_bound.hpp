#pragma once
/// How long a run takes at least by the model, without simulating it.

#include "workloads/experiment.hpp"

namespace c3::inline workloads {

/// By how much kernels of cohorts or work groups may be faster than alone in closed form: their times are
/// drawn, and loads, arithmetic and stores of neighbours overlap. Source:
/// tests/contract/gpu_closed_form_test.cpp, whose kernels of training steps agree within 1 to 7 %. Kernels of
/// the fluid grain take their closed form exactly.
inline constexpr double kCohortMargin = 0.07;

/// The longer of what hardware allows (lower_bound()) and what the model adds to it: every kernel takes as long
/// as alone, in the clock of a burst, on its stream and after the events for which it waits; ranks that receive
/// messages, as stages of a pipeline, wait for what is sent, so that a pipeline's bubble is in it. Where clocks
/// are sustained, the kernels of each stream also keep within the power limit (power_bound()). Communication
/// takes no time, hosts are never late, and nothing disturbs anything. With a fused backend, whose kernels do
/// not store to HBM what they store alone, only what hardware allows. Wrong when: every GPU that computes is
/// faster than its preset says, as speed_spread may draw without folding. \throws InfeasibleError as describe()
/// does, InterruptedError
Seconds model_bound(const Experiment& experiment, const Strategy& strategy);

}  // namespace c3::workloads
