#pragma once
/// What a collective moves, as flows: made once for all calls that are alike.

#include <cstddef>
#include <memory>
#include <unordered_map>
#include <vector>

#include "collectives/plan.hpp"
#include "collectives/planned_flows.hpp"
#include "collectives/turning_ring.hpp"

namespace c3::inline collectives {

/// Depends on the plan's call, backend, method and grain, and on the cluster. It never changes, so runs share
/// it.
struct CollectiveSchedule {
  CollectiveGrain grain = CollectiveGrain::edge;  ///< never automatic
  std::vector<TurningRing> rings;  ///< what runs chunk by chunk, as it comes; then there are no transfers
  TransferGraph graph;             ///< folded when the cluster is
  std::vector<PlannedFlow> flows;
};

/// The schedules of one cluster.
class ScheduleStore {
 public:
  /// \p spec must outlive the store. \param folded rank 0 stands for all.
  ScheduleStore(const ClusterSpec& spec, bool folded) : spec_(spec), folded_(folded) {}

  /// \throws InfeasibleError when the algorithm does not support the call on this cluster, or for more flows
  /// than memory holds.
  std::shared_ptr<const CollectiveSchedule> of(const CollectivePlan& plan);

  std::size_t size() const { return known_.size(); }

 private:
  struct Known {
    CollectiveCall call;
    Backend backend;
    CollectiveMethod method;
    CollectiveGrain grain;  ///< as asked for
    std::shared_ptr<const CollectiveSchedule> schedule;
  };

  const ClusterSpec& spec_;
  bool folded_;
  std::unordered_multimap<std::size_t, Known> known_;  ///< by a hash of what they depend on
};

}  // namespace c3::collectives
