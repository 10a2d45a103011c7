#include "workloads/execute/shared_schedules.hpp"

#include <utility>

namespace c3 { inline namespace workloads {

std::shared_ptr<const FoldedSchedules> SharedSchedules::take(const Kind& kind, const ClusterSpec& cluster,
                                                             const RankPartition& classes) {
  const auto schedules = std::exchange(schedules_, nullptr);
  const bool fits =
      schedules != nullptr && kind_ == kind && *schedules->classes == classes && cluster_ == cluster;
  return fits ? schedules : nullptr;
}

void SharedSchedules::keep(const Kind& kind, const ClusterSpec& cluster,
                           std::shared_ptr<const FoldedSchedules> schedules) {
  kind_ = kind;
  cluster_ = cluster;
  schedules_ = std::move(schedules);
}

}}  // namespace c3::workloads
