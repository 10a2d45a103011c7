#pragma once
/// Many simulations at once. SimGrid's engine belongs to a process, so that threads cannot share one.

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/units.hpp"
#include "studies/study.hpp"

namespace c3 { inline namespace studies {

/// What came of a simulation, or of several that belong together.
struct SimulatedTime {
  static constexpr std::size_t kMostValues = 240;

  std::optional<Seconds> time = std::nullopt;  ///< absent: the scenario cannot run, or all is in `values`
  std::string said =
      {};  ///< of a time what the job says of it, else why there is none; some 400 letters at most
  std::vector<double> values = {};  ///< what a job finds beside a time, or instead; at most kMostValues
};

struct SimulationJob {
  std::function<SimulatedTime()> run;              ///< in a process of its own
  std::function<void(const SimulatedTime&)> take;  ///< in this one, after all have run
};
using SimulationJobs = std::vector<SimulationJob>;

/// Runs all of \p jobs in \p processes of their own (0: as many as this machine has cores), then hands out what
/// came of them, in their order: the same whatever number of processes there was. An InfeasibleError is a
/// result. \throws InterruptedError; std::runtime_error with the text of whatever else a job throws, or when
/// its process dies; IoError when there can be no process.
void run_simulations(const SimulationJobs& jobs, const StudyProgress& progress, std::size_t processes = 0);

}}  // namespace c3::studies
