#include "workloads/execute/shared_schedules.hpp"

#include <algorithm>

#include "workloads/execute/run.hpp"

namespace c3::inline workloads {

SharedSchedules::Kind SharedSchedules::kind_of(const Experiment& experiment, const Strategy& strategy,
                                               const RunSetup& setup) {
  return {.strategy = strategy.name,
          .filter = static_cast<int>(setup.filter),
          .grain = static_cast<int>(experiment.measure.collective_grain),
          .stream = setup.only_stream ? *setup.only_stream + 1 : 0};
}

std::shared_ptr<const FoldedSchedules> SharedSchedules::find(const Experiment& experiment,
                                                             const Strategy& strategy, const RunSetup& setup,
                                                             const RankPartition& classes) const {
  const auto found = std::ranges::find(kept_, kind_of(experiment, strategy, setup), &Kept::kind);
  const bool fits =
      found != kept_.end() && *found->schedules->classes == classes && found->cluster == experiment.cluster;
  return fits ? found->schedules : nullptr;
}

void SharedSchedules::keep(const Experiment& experiment, const Strategy& strategy, const RunSetup& setup,
                           std::shared_ptr<const FoldedSchedules> schedules) {
  const Kind kind = kind_of(experiment, strategy, setup);
  auto found = std::ranges::find(kept_, kind, &Kept::kind);
  if (found == kept_.end()) found = kept_.insert(found, Kept{.kind = kind, .cluster = {}, .schedules = {}});
  found->cluster = experiment.cluster;
  found->schedules = std::move(schedules);
}

}  // namespace c3::workloads
