#pragma once
/// How far the simulator's replay of a recorded run is from the recording.

#include "workloads/experiment.hpp"
#include "workloads/traces/replay/recorded_run.hpp"

namespace c3 { inline namespace app {

/// Errors as shares of the mean recorded step, over the kernels of all ranks, unless the member says otherwise.
struct ReplayCheck {
  double step_error = 0.0;  ///< largest of all ranks, of the rank's recorded steps
  double median = 0.0;      ///< median of |simulated - recorded start|
  double p95 = 0.0;
};

/// Runs \p experiment, whose program is the replay of \p run with recorded times, once under its first
/// strategy.
ReplayCheck check_replay(const RecordedRun& run, Experiment experiment);

}}  // namespace c3::app
