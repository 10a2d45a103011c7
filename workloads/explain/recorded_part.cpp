#include "workloads/explain/recorded_part.hpp"

#include "workloads/analysis/periodic_power.hpp"
#include "workloads/analysis/shorter_steps.hpp"
#include "workloads/execute/run.hpp"

namespace c3 { inline namespace workloads {

Experiment recorded_part(const Experiment& experiment) {
  return may_be_shortened(experiment) ? abridged(experiment) : experiment;
}

void record(const Experiment& part, const Strategy& strategy, const CuChoice& cus, Observer& observer) {
  RunSetup setup{.cus = cus, .observer = &observer};
  setup.power = periodic_start(part, strategy, setup);
  run_once(part, strategy, setup);
}

}}  // namespace c3::workloads
