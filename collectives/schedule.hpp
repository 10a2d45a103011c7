#pragma once
/// What a collective moves, as flows: made once for all calls that are alike.

#include <cstddef>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "collectives/plan.hpp"
#include "collectives/planned_flows.hpp"
#include "collectives/turning_ring.hpp"
#include "interconnect/interconnect.hpp"

namespace c3::inline collectives {

/// Depends on the plan's call, backend, method and grain, and on the cluster. It never changes, so runs share
/// it.
struct CollectiveSchedule {
  CollectiveGrain grain = CollectiveGrain::edge;  ///< never automatic
  std::vector<TurningRing> rings;  ///< what runs chunk by chunk, as it comes; then there are no transfers
  TransferGraph graph;             ///< folded when the cluster is
  std::vector<PlannedFlow> flows;
  Pipeline pipeline;             ///< instead of flows: what channels send piece by piece, as it comes
  std::vector<int> stand_ins;    ///< with classes of ranks: those that are simulated for all members
  std::deque<LegShares> shares;  ///< to which flows refer, of classes of ranks
  double inequity = 0.0;         ///< see EdgeFolding
};

/// The schedules of one cluster.
class ScheduleStore {
 public:
  /// \p spec must outlive the store, as must what follows. \param folded rank 0 stands for all.
  ScheduleStore(const ClusterSpec& spec, bool folded) : spec_(spec), folded_(folded) {}
  /// One rank of each class stands for all of them; \p links are told of edges.
  ScheduleStore(const ClusterSpec& spec, Interconnect& links, const RankPartition& classes)
      : spec_(spec), folded_(false), links_(&links), classes_(&classes) {}

  /// \throws InfeasibleError when the algorithm does not support the call on this cluster, or for more flows
  /// than memory holds.
  std::shared_ptr<const CollectiveSchedule> of(const CollectivePlan& plan);

  std::size_t size() const { return known_.size(); }
  /// Of all schedules, see EdgeFolding.
  double inequity() const;

 private:
  struct Known {
    CollectiveCall call;
    Backend backend;
    CollectiveMethod method;
    CollectiveGrain grain;  ///< as asked for
    std::shared_ptr<const std::vector<std::vector<int>>> groups;
    std::shared_ptr<const CollectiveSchedule> schedule;
  };

  const ClusterSpec& spec_;
  bool folded_;
  Interconnect* links_ = nullptr;
  const RankPartition* classes_ = nullptr;             ///< with links_
  std::unordered_multimap<std::size_t, Known> known_;  ///< by a hash of what they depend on
};

}  // namespace c3::collectives
