#pragma once
/// How long a run takes by the model, and which energy, without simulating it: at least, and about.

#include <span>
#include <vector>

#include "workloads/experiment.hpp"

namespace c3 { inline namespace workloads {

struct ModelTimes {
  /// The longer of what hardware allows (lower_bound()) and what the model adds to it: every kernel takes as
  /// long as alone, in the clock of a burst, on its stream and after the events for which it waits; ranks that
  /// receive messages, as stages of a pipeline, wait for what is sent, so that a pipeline's bubble is in
  /// it. Where clocks are sustained, the kernels of each stream also keep within the power limit
  /// (power_bound()). Communication takes no time, hosts are never late, and nothing disturbs anything. With a
  /// fused backend, whose kernels do not store to HBM what they store alone, only what hardware allows. Wrong
  /// when: every GPU that computes is faster than its preset says, as speed_spread may draw without folding.
  Seconds bound;
  /// The same with kernels slowed evenly by the power limit, collectives that last as long as their library
  /// expects, messages at the rate of their links, and no less than a host takes for its launches. No bound:
  /// the library's own formula may be slower than the model. Wrong when: operations that run at the same time
  /// slow each other, or a strategy gives collectives fewer channels or CUs than the library takes.
  Seconds estimate;
  /// Energy of all boards, over the bound of the time (least_energy()) and over its estimate; 0 where the
  /// power of the GPU is not known.
  Joules least_energy, likely_energy;
};

/// Times of each of \p strategies: what they share is found once. \throws InfeasibleError as describe() does,
/// InterruptedError
std::vector<ModelTimes> model_times(const Experiment& experiment, std::span<const Strategy> strategies);

/// Times of a step from one stage of its pipeline (written_stage()): the bound is that of its kernels alone.
/// The estimate is what the stage takes with nobody to wait for, over the share of the step in which an average
/// stage is busy by its schedule. Boards of other stages draw idle power at least, and about what this one's
/// do. Wrong when: stages are unequal, or messages do not hide behind passes. \throws as model_times()
std::vector<ModelTimes> stage_times(const Experiment& stage, std::span<const Strategy> strategies);

}}  // namespace c3::workloads
