#include "collectives/group_runs.hpp"

#include "collectives/backends/backend.hpp"

namespace c3::inline collectives {

GroupRuns::GroupRuns(Cluster& cluster, const CollectiveCall& call, const AnyJoins& any_joins,
                     const PlanOf& plan_of) {
  if (cluster.setup().folded) {
    runs_.push_back(make_collective(cluster, plan_of(call)));
    return;
  }
  groups_ = call.groups;
  for (const CollectiveCall& of_group : calls_by_group(call, cluster.ranks())) {
    const std::vector<int> members = members_of(of_group, cluster.ranks());
    runs_.push_back(!any_joins || any_joins(members) ? make_collective(cluster, plan_of(of_group)) : nullptr);
  }
}

CollectiveRun* GroupRuns::of(int rank) const {
  if (runs_.empty()) return nullptr;
  const int number = groups_ ? group_number(*groups_, rank) : 0;
  CollectiveRun* const run = runs_[static_cast<std::size_t>(number)].get();
  return run != nullptr && run->has_member(rank) ? run : nullptr;
}

}  // namespace c3::collectives
