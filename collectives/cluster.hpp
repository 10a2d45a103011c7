#pragma once
/// GPUs joined by an interconnect, in one simulation.

#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "collectives/demand_sums.hpp"
#include "collectives/schedule.hpp"
#include "collectives/spec.hpp"
#include "gpu/gpu.hpp"
#include "interconnect/interconnect.hpp"
#include "interconnect/rank_partition.hpp"

namespace c3 { inline namespace collectives {

struct ClusterSetup {
  GpuSetup gpu;
  bool folded =
      true;  ///< simulate rank 0 for all ranks; requires that every rank does the same at the same time
  /// Simulate one rank of each class for all of them; not with `folded`. nullptr: every rank.
  std::shared_ptr<const RankPartition> classes = nullptr;
  LinkFolding folding = LinkFolding::mean;  ///< with classes
  /// With classes, and folded as `folding` says: what another run of the same cluster made.
  std::shared_ptr<const FoldedSchedules> schedules = nullptr;
  bool reaches_hosts = false;  ///< whether bytes go to and from the memory of hosts
  /// For each rank, how many times as long its arithmetic takes, besides what is stated of stragglers; empty:
  /// 1.
  std::vector<double> slower = {};
};

/// The groups of ranks in which a call runs, in classes: groups that share a class of ranks, directly or
/// through others, begin and end together. Most often they have as many members of each class of ranks.
struct GroupClasses {
  std::vector<std::size_t> number_of;  ///< class number of each group
  std::vector<std::shared_ptr<const std::vector<std::vector<int>>>> all;
};

/// \p spec must outlive it. Ranks draw the same random numbers, as symmetric ranks do that fold to one.
class Cluster {
 public:
  /// \throws InfeasibleError for more ranks than memory holds, unless they are folded
  Cluster(Simulation& simulation, const ClusterSpec& spec, const ClusterSetup& setup);

  Simulation& simulation() { return simulation_; }
  const ClusterSpec& spec() const { return spec_; }
  const ClusterSetup& setup() const { return setup_; }
  int ranks() const { return spec_.ranks(); }
  int simulated_ranks() const { return static_cast<int>(gpus_.size()); }  ///< 1 when folded
  /// Number \p place of the ranks that are simulated.
  int simulated_rank(int place) const { return setup_.classes ? setup_.classes->representative(place) : place; }
  /// The simulated rank that stands for \p rank.
  int stand_in(int rank) const { return simulated_rank(static_cast<int>(place_of(rank))); }
  /// How \p rank differs from a sound one.
  RankCondition condition(int rank) const;
  /// The GPU that stands for \p rank.
  Gpu& gpu(int rank) { return *gpus_[place_of(rank)]; }
  const Interconnect& interconnect() const { return interconnect_; }
  ScheduleStore& schedules() { return schedules_; }
  /// For the demands of one flow, which are taken before those of another are added.
  DemandSums& demand_sums() { return demand_sums_; }
  /// With classes of ranks: the groups of a call, the same of equal groups.
  const GroupClasses& group_classes(const CollectiveCall& call);
  /// With classes of ranks: edges of one call that progress together, each with \p bytes, before fold_links().
  /// \throws UnlikeSchedules with ClusterSetup::schedules, which have no edges of others
  EdgeSetId add_edges(std::vector<Edge> edges, Bytes bytes) {
    if (setup_.schedules != nullptr) throw UnlikeSchedules();
    return interconnect_.add_edges(std::move(edges), bytes);
  }
  /// All edges of one call have been added.
  std::size_t end_call() { return interconnect_.end_call(); }
  /// With classes of ranks: all collectives are made, what they load is known. Does nothing otherwise.
  /// \throws UnlikeSchedules
  void fold_links() {
    schedules_.end();
    interconnect_.fold_links();
  }
  /// What other runs of the same cluster and classes can take over; nullptr: nothing. After fold_links().
  std::shared_ptr<const FoldedSchedules> folded_schedules() const;
  /// A thread that feeds the copy engines of all GPUs of a node, where there is not one for each GPU.
  FifoLock& host_of_node(int rank) {
    return hosts_[setup_.folded ? 0 : static_cast<std::size_t>(rank / spec_.node.gpus)];
  }

 private:
  std::size_t place_of(int rank) const {
    if (setup_.folded) return 0;
    return static_cast<std::size_t>(setup_.classes ? setup_.classes->class_of(rank) : rank);
  }
  GpuPace pace(int rank) const;
  GroupClasses make_group_classes(const CollectiveCall& call) const;

  Simulation& simulation_;
  const ClusterSpec& spec_;
  ClusterSetup setup_;
  std::vector<RankCondition> conditions_;  ///< one per rank; empty: all are sound
  std::vector<std::unique_ptr<Gpu>> gpus_;
  Interconnect interconnect_;
  ScheduleStore schedules_;
  DemandSums demand_sums_;
  std::deque<FifoLock> hosts_;                                         ///< one per node
  std::deque<std::pair<CollectiveCall, GroupClasses>> group_classes_;  ///< keyed by the groups of a call
};

}}  // namespace c3::collectives
