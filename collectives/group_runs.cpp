#include "collectives/group_runs.hpp"

#include <algorithm>

#include "collectives/backends/entry.hpp"

namespace c3 { inline namespace collectives {

GroupRuns::GroupRuns(Cluster& cluster, const CollectiveCall& call, const AnyJoins& any_joins,
                     const PlanOf& plan_of) {
  if (cluster.setup().folded) {
    runs_.push_back(make_collective(cluster, plan_of(call)));
    return;
  }
  groups_ = call.groups;
  if (cluster.setup().classes) {
    make_by_class(cluster, call, any_joins, plan_of);
    return;
  }
  for (const CollectiveCall& of_group : calls_by_group(call, cluster.ranks())) {
    const std::vector<int> members = members_of(of_group, cluster.ranks());
    runs_.push_back(!any_joins || any_joins(members) ? make_collective(cluster, plan_of(of_group)) : nullptr);
  }
}

// The first group of a class is run, for all.
void GroupRuns::make_by_class(Cluster& cluster, const CollectiveCall& call, const AnyJoins& any_joins,
                              const PlanOf& plan_of) {
  classes_ = &cluster.group_classes(call);
  for (const auto& groups : classes_->all) {
    if (any_joins && std::ranges::none_of(*groups, any_joins)) {
      runs_.push_back(nullptr);
      continue;
    }
    CollectiveCall of_first = call;
    of_first.ranks = groups->front();
    of_first.groups.reset();
    CollectivePlan plan = plan_of(of_first);
    plan.groups = groups;
    runs_.push_back(make_collective(cluster, std::move(plan)));
  }
}

CollectiveRun* GroupRuns::of(int rank) const {
  if (runs_.empty()) return nullptr;
  auto number = static_cast<std::size_t>(groups_ ? group_number(*groups_, rank) : 0);
  if (classes_ != nullptr) number = classes_->number_of[number];
  CollectiveRun* const run = runs_[number].get();
  return run != nullptr && run->has_member(rank) ? run : nullptr;
}

}}  // namespace c3::collectives
