#include "workloads/analysis/impossible_strategies.hpp"

#include <algorithm>
#include <optional>

#include "engine/errors.hpp"
#include "engine/interrupt.hpp"
#include "workloads/analysis/shorter_steps.hpp"
#include "workloads/execute/check_run.hpp"
#include "workloads/execute/run.hpp"

namespace c3 { inline namespace workloads {

std::vector<ImpossibleStrategy> impossible_strategies(const Experiment& experiment) {
  std::vector<ImpossibleStrategy> impossible;
  if (experiment.strategies.size() < 2) return impossible;
  // Of a long step its smallest part has the same collectives and partitions.
  const std::optional<Experiment> part =
      may_be_shortened(experiment) ? std::optional(smallest(experiment)) : std::nullopt;
  const Experiment& checked = part ? *part : experiment;
  for (const Strategy& strategy : experiment.strategies) {
    checkpoint();
    try {
      check_run(checked, strategy, {.cus = cu_choices(experiment, strategy).front()});
    } catch (const InfeasibleError& error) {
      impossible.push_back({strategy.name, error.what()});
    }
  }
  if (impossible.size() == experiment.strategies.size()) throw InfeasibleError(impossible.front().why);
  return impossible;
}

Experiment without(Experiment experiment, const std::vector<ImpossibleStrategy>& impossible) {
  std::erase_if(experiment.strategies, [&](const Strategy& strategy) {
    return std::ranges::find(impossible, strategy.name, &ImpossibleStrategy::name) != impossible.end();
  });
  return experiment;
}

}}  // namespace c3::workloads
