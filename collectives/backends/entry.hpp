#pragma once
/// What a backend is: how it makes a run, and what it runs by default.

#include <memory>
#include <string_view>

#include "collectives/backends/backend.hpp"
#include "collectives/collective_run.hpp"

namespace c3 { inline namespace collectives {

/// One backend.
struct BackendEntry {
  std::string_view name;
  /// \throws InfeasibleError when it cannot run the plan on this cluster.
  std::unique_ptr<CollectiveRun> (*make)(Cluster& cluster, CollectivePlan plan);
  /// The algorithm of a call for which nothing else is asked.
  Algorithm (*default_algorithm)(const CollectiveCall& call, const ClusterSpec& cluster);
};

/// \throws InfeasibleError when the backend cannot run the plan on this cluster; std::logic_error for a call in
/// several groups, which GroupRuns makes runs of, unless rank 0's stands for all.
std::unique_ptr<CollectiveRun> make_collective(Cluster& cluster, CollectivePlan plan);

/// What \p backend runs unless it is told otherwise; its file says why.
Algorithm default_algorithm(const CollectiveCall& call, Backend backend, const ClusterSpec& cluster);

}}  // namespace c3::collectives
