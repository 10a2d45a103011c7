#pragma once
/// What a collective moves, as flows: made once for all calls that are alike.

#include <cstddef>
#include <deque>
#include <memory>
#include <vector>

#include "collectives/plan.hpp"
#include "collectives/planned_flows.hpp"
#include "collectives/turning_ring.hpp"
#include "interconnect/interconnect.hpp"

namespace c3 { inline namespace collectives {

/// Depends on the plan's call, backend, method and grain, the variant of copy engines' commands, and on the
/// cluster. It never changes, so runs share it.
struct CollectiveSchedule {
  CollectiveGrain grain = CollectiveGrain::edge;  ///< never automatic
  std::vector<TurningRing> rings;  ///< what runs chunk by chunk, as it comes; then there are no transfers
  TransferGraph graph;             ///< folded when the cluster is
  std::vector<PlannedFlow> flows;
  std::vector<DmaJob> jobs;      ///< only with backend dma: what copy engines are told
  Pipeline pipeline;             ///< instead of flows: what channels send piece by piece, as it comes
  std::vector<int> stand_ins;    ///< with classes of ranks: those that are simulated for all members
  std::deque<LegShares> shares;  ///< the flows refer to these, with classes of ranks
  double inequity = 0.0;         ///< see EdgeFolding
  std::size_t folded_call = 0;   ///< number in FoldedLinks, with classes of ranks
};

/// The plan that a schedule was made for, and the schedule.
struct KnownSchedule {
  CollectiveCall call;
  Backend backend;
  CollectiveMethod method;
  CollectiveGrain grain;  ///< the one asked for
  DmaVariant variant;     ///< only with backend dma
  std::shared_ptr<const std::vector<std::vector<int>>> groups;
  std::shared_ptr<const CollectiveSchedule> schedule;

  bool is_of(const CollectivePlan& plan) const;
};

/// All that a run with classes of ranks has made of its collectives, for another run that has the same ones.
struct FoldedSchedules {
  std::shared_ptr<const RankPartition> classes;  ///< which the links refer to
  std::shared_ptr<FoldedLinks> links;
  std::vector<KnownSchedule> in_order;  ///< the order of making decides the numbers of their edges
};

/// A run was to take over another one's FoldedSchedules and has other collectives: it must begin anew without.
struct UnlikeSchedules {};

/// The schedules of one cluster.
class ScheduleStore {
 public:
  /// \p spec must outlive the store, as must what follows. \param folded rank 0 stands for all.
  ScheduleStore(const ClusterSpec& spec, bool folded) : spec_(spec), folded_(folded) {}
  /// One rank of each class stands for all of them; \p links are told of edges.
  /// \param before of the same cluster and classes, whose links \p links has; nullptr: all are made
  ScheduleStore(const ClusterSpec& spec, Interconnect& links, const RankPartition& classes,
                std::shared_ptr<const FoldedSchedules> before = nullptr)
      : spec_(spec), folded_(false), links_(&links), classes_(&classes), before_(std::move(before)) {}

  /// \throws InfeasibleError when the algorithm does not support the call on this cluster, or for more flows
  /// than memory holds, UnlikeSchedules
  std::shared_ptr<const CollectiveSchedule> of(const CollectivePlan& plan);

  /// No more are asked for. \throws UnlikeSchedules where those of `before` are more
  void end() const;
  /// Schedules in the order of their making; empty where some were made with edges that belong to no schedule.
  std::vector<KnownSchedule> in_order() const;

  std::size_t size() const { return known_.size(); }
  /// The greatest inequity of all schedules, see EdgeFolding.
  double inequity() const;

 private:
  std::shared_ptr<const CollectiveSchedule> make(const CollectivePlan& plan);

  const ClusterSpec& spec_;
  bool folded_;
  Interconnect* links_ = nullptr;
  const RankPartition* classes_ = nullptr;  ///< with links_
  std::shared_ptr<const FoldedSchedules> before_;
  std::vector<KnownSchedule> known_;                          ///< ordered by their making
  std::unordered_multimap<std::size_t, std::size_t> places_;  ///< there, by a hash of what they depend on
  std::size_t sets_ = 0;                                      ///< number of edge sets that they have
};

}}  // namespace c3::collectives
