#pragma once
/// What the boards of a run draw, and what their power limit makes of the clock.

#include <optional>

#include "engine/units.hpp"
#include "workloads/execute/run_result.hpp"

namespace c3 { inline namespace workloads {

struct RunClock {
  double speed = 1.0;   ///< of the core clock, of boost, mean over the run; of the GPU that was slowed most
  Watts mean, highest;  ///< that its board draws: over the run, and the most over it or its governor's mean
  std::optional<Joules> energy = std::nullopt;  ///< of all boards in the run; absent in older result files

  bool operator==(const RunClock&) const = default;
};

/// Absent where the power of the GPU is not known. A run whose time follows from shorter ones draws over all of
/// it what these draw on average.
std::optional<RunClock> clock_of(const RunResult& run);

}}  // namespace c3::workloads
