#pragma once
/// \file
/// How far a replay of the recorded durations is from the recording. A step time alone proves nothing: the
/// replay of a run that its hosts decide has the right one with a wrong graph.

#include <vector>

#include "workloads/traces/run_graph.hpp"

namespace c3 { inline namespace traces {

struct StepLength {
  Picoseconds recorded;
  Picoseconds replayed;
};

struct StartErrors {
  std::vector<StepLength> steps;  ///< [ranks] from the first recorded step's start to the last one's end
  Picoseconds step;               ///< mean length of a step over ranks, which errors are compared with
  double step_error = 0.0;        ///< largest of all ranks, relative
  double median = 0.0;            ///< of |replayed - recorded start| over GPU work of all ranks, of a step
  double p95 = 0.0;
  double worst = 0.0;
};

/// \param dates of a replay of \p run
StartErrors start_errors(const std::vector<Rank>& ranks, const RunGraph& run,
                         const std::vector<Picoseconds>& dates);

/// Time from the start of a rank's first step to the end of its last one.
Picoseconds step_length(const RankPoints& rank, const std::vector<Picoseconds>& dates);

/// Time from the start of a rank's first step to the end of its last GPU work, before or after the end of the
/// step.
Picoseconds gpu_length(const RankPoints& rank, const std::vector<Picoseconds>& dates);

}}  // namespace c3::traces
