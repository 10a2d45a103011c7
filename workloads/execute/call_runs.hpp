#pragma once
/// All collectives of one run.

#include <functional>
#include <string>
#include <vector>

#include "collectives/group_runs.hpp"
#include "workloads/program/program.hpp"

namespace c3 { inline namespace workloads {

/// A run of each of a program's calls in each of its groups.
class CallRuns {
 public:
  using PlanOf = std::function<CollectivePlan(CallId call, const CollectiveCall& of_group)>;

  /// Calls for which \p takes_place is false have no run. \throws InfeasibleError, naming \p strategy and
  /// stream
  CallRuns(Cluster& cluster, const Program& program, const std::string& strategy,
           const std::function<bool(const Call&)>& takes_place, const PlanOf& plan_of);

  const GroupRuns& operator[](CallId call) const { return runs_[call]; }
  /// What a user should know of how they ran, each text once: what single collectives tell, and how long
  /// channels waited for slots.
  std::vector<std::string> notes() const;

 private:
  std::vector<CallId> order_;  ///< in which they are made: stream by stream
  std::vector<GroupRuns> runs_;
};

}}  // namespace c3::workloads
