#include "gpu/clock/governor.hpp"
#include "workloads/analysis/study.hpp"

namespace c3 { inline namespace workloads {

StudyConditions conditions_of(const Experiment& experiment) {
  const GpuSpec& gpu = experiment.cluster.gpu;
  return {.system = title_of(experiment.cluster),
          .gpu = gpu.name,
          .hbm_arbitration = gpu.hbm.arbitration,
          .dispatch_policy = gpu.dispatch.policy,
          .clock_state = is_governed(gpu) ? std::optional(gpu.governor.state) : std::nullopt,
          .level = sustained_level(gpu),
          .seeds = experiment.measure.seeds,
          .draws = experiment.measure.draws};
}

}}  // namespace c3::workloads
