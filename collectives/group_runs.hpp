#pragma once
/// One call at work in each of its groups.

#include <functional>
#include <memory>
#include <vector>

#include "collectives/collective_run.hpp"

namespace c3 { inline namespace collectives {

/// A run for each group, which none of the others knows; of classes of ranks one for all groups that are alike;
/// or rank 0's alone where it stands for all.
class GroupRuns {
 public:
  using PlanOf = std::function<CollectivePlan(const CollectiveCall& of_group)>;
  using AnyJoins = std::function<bool(const std::vector<int>& members)>;

  /// Runs no collective.
  GroupRuns() = default;
  /// \param any_joins whether a member of a group takes part: a group of which none does has no run. Empty: all
  /// do.
  /// \throws InfeasibleError as calls_by_group and make_collective.
  GroupRuns(Cluster& cluster, const CollectiveCall& call, const AnyJoins& any_joins, const PlanOf& plan_of);

  bool is_empty() const { return runs_.empty(); }
  /// The one that \p rank joins; null where it is a member of none, or not simulated.
  CollectiveRun* of(int rank) const;
  /// One per group, or class of groups; null for one that has no run.
  const std::vector<std::unique_ptr<CollectiveRun>>& all() const { return runs_; }

 private:
  void make_by_class(Cluster& cluster, const CollectiveCall& call, const AnyJoins& any_joins,
                     const PlanOf& plan_of);

  std::optional<RankGroups> groups_;       ///< these number the runs, where groups are several
  const GroupClasses* classes_ = nullptr;  ///< these number the runs, where ranks are in classes
  std::vector<std::unique_ptr<CollectiveRun>> runs_;
};

}}  // namespace c3::collectives
