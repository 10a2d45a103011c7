#pragma once
/// When the work of a recorded run ran in the simulator.

#include <vector>

#include "workloads/experiment.hpp"
#include "workloads/traces/replay/rank_figures.hpp"

namespace c3 { inline namespace traces {

struct SimulatedDates {
  RunDates work;  ///< [ranks][their work]
  std::vector<Picoseconds>
      lengths;  ///< [ranks] between the marks of their steps, else to the end of their work
};

/// Runs \p experiment, whose program is a replay of \p run, once under its first strategy. Every recorded rank
/// is simulated by itself.
SimulatedDates simulate(const RecordedRun& run, Experiment experiment);

}}  // namespace c3::traces
