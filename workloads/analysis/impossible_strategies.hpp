#pragma once
/// Strategies that cannot run, known before anything is simulated: one of several should not cost the others.

#include <string>
#include <vector>

#include "workloads/experiment.hpp"

namespace c3 { inline namespace workloads {

struct ImpossibleStrategy {
  std::string name;
  std::string why;
};

/// Of an experiment with several strategies; a single one is found out by running it. At the cost of what a run
/// prepares, once a strategy. \throws InfeasibleError when none can run, as the first of them says,
/// InterruptedError
std::vector<ImpossibleStrategy> impossible_strategies(const Experiment& experiment);

/// \p experiment with the strategies that can run.
Experiment without(Experiment experiment, const std::vector<ImpossibleStrategy>& impossible);

}}  // namespace c3::workloads
