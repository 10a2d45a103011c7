#pragma once
/// Experiment files that run what was recorded.

#include <string>

#include "workloads/traces/replay/recorded_run.hpp"

namespace c3 { inline namespace configs {

struct ReplaySystem {
  std::string system;  ///< preset of a node
  int nodes = 1;
};

/// TOML that runs `program.h5` beside it as it was recorded.
std::string replay_experiment(const RecordedRun& run, const ReplaySystem& on);

/// TOML that runs `operators.json` beside it, with times from shapes.
std::string benchmark_experiment(const RecordedRun& run, const ReplaySystem& on);

}}  // namespace c3::configs
