#include "workloads/execute/shared_schedules.hpp"

#include <algorithm>
#include <utility>

namespace c3::inline workloads {

std::shared_ptr<const FoldedSchedules> SharedSchedules::find(const Kind& kind, const ClusterSpec& cluster,
                                                             const RankPartition& classes) const {
  const auto found = std::ranges::find(kept_, kind, &Kept::kind);
  const bool fits = found != kept_.end() && *found->schedules->classes == classes && found->cluster == cluster;
  return fits ? found->schedules : nullptr;
}

void SharedSchedules::keep(const Kind& kind, const ClusterSpec& cluster,
                           std::shared_ptr<const FoldedSchedules> schedules) {
  auto found = std::ranges::find(kept_, kind, &Kept::kind);
  if (found == kept_.end()) found = kept_.insert(found, Kept{.kind = kind, .cluster = {}, .schedules = {}});
  found->cluster = cluster;
  found->schedules = std::move(schedules);
}

}  // namespace c3::workloads
