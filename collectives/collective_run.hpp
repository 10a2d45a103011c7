#pragma once
/// One collective in flight, whoever moves its bytes.

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "collectives/channel_slots.hpp"
#include "collectives/cluster.hpp"
#include "collectives/plan.hpp"
#include "collectives/schedule.hpp"
#include "engine/event.hpp"

namespace c3 { inline namespace collectives {

/// Runs a plan on a cluster; make_collective makes one. Nothing moves before every member of the group has
/// joined.
class CollectiveRun {
 public:
  virtual ~CollectiveRun() = default;
  CollectiveRun(const CollectiveRun&) = delete;
  CollectiveRun& operator=(const CollectiveRun&) = delete;

  /// One member's part. The member joins \p delay after its release; its part ends when the rank holds all its
  /// bytes and has sent its own. When the collective starts on this rank, \p activity receives its activity, a
  /// part of \p parent unless that has begun before.
  Task join(int rank, Seconds delay, ActivityId* activity, ActivityId parent = kNoActivity);

  const CollectivePlan& plan() const { return plan_; }
  int members() const { return graph_.ranks(); }
  bool has_member(int rank) const;
  bool have_all_joined() const { return all_joined_.is_set(); }  ///< and it is under way, or has ended
  /// When the last member that is simulated joined; of a message that goes through a buffer when it was written
  /// there, if that is later. \pre have_all_joined(), and of such a message that it has begun to be written
  Seconds last_joined() const {
    return plan_.buffered == nullptr ? last_joined_ : std::max(last_joined_, plan_.buffered->moves_from);
  }
  int width() const { return width_; }  ///< channels (cu) or engines (dma) of one rank
  /// The greatest spread, over the mean, of loads that classes of ranks average in it; 0: none are averaged.
  double inequity() const;
  /// What a user should know of how it ran; empty: nothing.
  virtual std::string note() const { return {}; }
  /// When \p rank's first bytes moved, where that may be before it joins.
  virtual std::optional<Seconds> began(int /*rank*/) const { return std::nullopt; }
  /// How its channels came to CUs; all 0 where it has none.
  virtual ChannelSlots slots() const { return {}; }

 protected:
  CollectiveRun(Cluster& cluster, CollectivePlan plan);

  /// Called when \p rank joins; must lead to finish() once all have joined.
  virtual void start(int rank) = 0;
  void finish();
  /// What ranks that have joined wait for from now on, for deadlock reports.
  void wait_for(std::string what) { done_.rename(std::move(what)); }

  Event& all_joined() { return all_joined_; }
  /// Members that are simulated: the whole group, one of each class, or rank 0 when folded.
  const std::vector<int>& simulated() const { return simulated_; }
  /// Position in simulated() of what stands for \p rank; its size for a rank that is not there.
  std::size_t index_of(int rank) const {
    if (cluster_.setup().classes) rank = cluster_.stand_in(rank);
    const auto place = static_cast<std::size_t>(rank - first_rank_);  // huge for those before
    return place < index_of_rank_.size() ? index_of_rank_[place] : simulated_.size();
  }
  /// Begins the rank's activity as a part of \p parent, unless it is there.
  void open_activity(int rank, ActivityId parent = kNoActivity);
  ActivityId rank_activity(int rank) const { return activities_[index_of(rank)]; }
  /// What an observer is told of \p leg.
  ActivityInfo transfer_info(const Leg& leg, ActivityKind kind) const;

  /// What a backend's payload byte costs beside itself.
  struct Carriage {
    double wire = 1.0;        ///< bytes on a link within a node
    double network = 1.0;     ///< bytes on a NIC
    double staging = 0.0;     ///< bytes at the receiver's HBM, half read and half written
    bool through_l2 = false;  ///< whether CUs do the work
    double read = 1.0;        ///< bytes read at the source; 0 for what a command has read already
    double write = 1.0;       ///< bytes written at the target
  };
  /// How many GPUs of a node each send as far ahead as the first, for Interconnect::add_route; 0: all of them.
  int alike() const;
  /// Connections between NICs that carry \p leg, where it leaves its node.
  virtual int connections(const Leg& /*leg*/) const { return 1; }
  /// Memory at both ends and the wire, each resource once. Valid until the next call of one of the two.
  std::span<const Demand> path(const Leg& leg, const Carriage& carriage) const;
  /// Like path(), for the first edge of those for which \p leg stands, as if the others were not there.
  std::span<const Demand> path_alone(const Leg& leg, const Carriage& carriage) const;

  Cluster& cluster_;
  Simulation& simulation_;
  CollectivePlan plan_;
  std::shared_ptr<const CollectiveSchedule> schedule_;
  const std::vector<TurningRing>& rings_;  ///< the schedule's, like the next two
  const TransferGraph& graph_;
  const std::vector<PlannedFlow>& planned_;
  int width_ = 0;
  std::vector<std::size_t> folded_calls_;  ///< numbers of calls in FoldedLinks, with classes of ranks

 private:
  void add_link_path(std::vector<Demand>& demands, const Leg& leg, const Carriage& carriage,
                     bool alone = false) const;
  void add_links(std::vector<Demand>& demands, const Leg& leg, const Carriage& carriage, bool alone) const;
  void add_switch_path(std::vector<Demand>& demands, const Leg& leg, const Carriage& carriage) const;
  void add_fabric_path(std::vector<Demand>& demands, const Leg& leg, const Carriage& carriage) const;
  static double edges_from(const Leg& leg);  ///< its sender's, in the mean
  std::string absent_ranks() const;          ///< those that have not joined yet

  std::vector<int> simulated_;
  int first_rank_ = 0;                      ///< the lowest of simulated()
  std::vector<std::size_t> index_of_rank_;  ///< indexed by rank - first_rank_
  std::size_t joined_ = 0;
  Seconds last_joined_;
  std::vector<bool> has_joined_;  ///< indexed like simulated()
  Event all_joined_;
  Event done_;
  std::vector<ActivityId> activities_;  ///< indexed like simulated()
  mutable std::vector<Demand> path_;    ///< scratch: of one leg
};

}}  // namespace c3::collectives
