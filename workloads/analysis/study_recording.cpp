#include <algorithm>
#include <stdexcept>

#include "workloads/analysis/shorter_steps.hpp"
#include "workloads/analysis/study.hpp"
#include "workloads/execute/run.hpp"

namespace c3 { inline namespace workloads {

std::vector<CollectiveRecord> record_run(const Experiment& part, const StrategyResult& result,
                                         Observer& observer, LaunchObserver* launches) {
  const auto strategy = std::ranges::find(part.strategies, result.name, &Strategy::name);
  if (strategy == part.strategies.end()) throw std::logic_error("record_run: no strategy " + result.name);
  RunSetup setup;
  setup.cus = result.cus;
  setup.seed = result.recorded_seed;
  setup.observer = &observer;
  setup.launches = launches;
  setup.power = result.recorded_power;
  setup.corrections = result.recorded_corrections;
  return run_once(part, *strategy, setup).records;
}

Experiment recorded_part(const Experiment& experiment, const StrategyResult& result) {
  const bool is_shortened = result.step && result.step->is_shortened;
  return is_shortened ? abridged(experiment) : experiment;
}

}}  // namespace c3::workloads
