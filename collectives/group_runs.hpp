#pragma once
/// One call at work in each of its groups.

#include <functional>
#include <memory>
#include <vector>

#include "collectives/collective_run.hpp"

namespace c3::inline collectives {

/// A run for each group, which none of the others knows; or rank 0's alone where it stands for all.
class GroupRuns {
 public:
  using PlanOf = std::function<CollectivePlan(const CollectiveCall& of_group)>;
  using AnyJoins = std::function<bool(const std::vector<int>& members)>;

  /// Of no collective.
  GroupRuns() = default;
  /// \param any_joins whether a member of a group takes part: a group of which none does has no run. Empty: all
  /// do.
  /// \throws InfeasibleError as calls_by_group and make_collective.
  GroupRuns(Cluster& cluster, const CollectiveCall& call, const AnyJoins& any_joins, const PlanOf& plan_of);

  bool is_empty() const { return runs_.empty(); }
  /// The one that \p rank joins; null where it is a member of none, or not simulated.
  CollectiveRun* of(int rank) const;
  /// By group; null for one that has no run.
  const std::vector<std::unique_ptr<CollectiveRun>>& all() const { return runs_; }

 private:
  std::optional<RankGroups> groups_;  ///< by which runs are numbered, where they are several
  std::vector<std::unique_ptr<CollectiveRun>> runs_;
};

}  // namespace c3::collectives
