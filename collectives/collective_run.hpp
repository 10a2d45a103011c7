#pragma once
/// One collective in flight, whoever moves its bytes.

#include <memory>
#include <string>
#include <vector>

#include "collectives/cluster.hpp"
#include "collectives/moves.hpp"
#include "engine/event.hpp"

namespace c3 {

struct CollectivePlan {
  std::string name;  ///< as written in the experiment
  CollectiveCall call;
  Backend backend = Backend::cu;
  Algorithm algorithm = Algorithm::direct;
  CollectiveGrain grain = CollectiveGrain::edge;
  int stream = 0;
  int priority = 0;
  int order = 0;  ///< of the queue, see Launch::order
  CuRange range;  ///< CUs of each XCD for its channels
};

/// Runs a plan on a cluster. Nothing moves before every rank has joined.
class CollectiveRun {
 public:
  /// \throws InfeasibleError when the backend cannot run the plan on this cluster.
  static std::unique_ptr<CollectiveRun> make(Cluster& cluster, CollectivePlan plan);
  virtual ~CollectiveRun() = default;
  CollectiveRun(const CollectiveRun&) = delete;
  CollectiveRun& operator=(const CollectiveRun&) = delete;

  /// One rank's part: \p delay after its release it joins; ends when the rank holds all its bytes and has sent
  /// its own. \p activity receives the collective's activity on this rank when it starts.
  Task join(int rank, Seconds delay, ActivityId* activity);

  const CollectivePlan& plan() const { return plan_; }
  int width() const { return width_; }  ///< channels (cu) or engines (dma) of one rank

 protected:
  CollectiveRun(Cluster& cluster, CollectivePlan plan);

  /// Called when \p rank joins; must lead to finish(rank) for every simulated rank once all have joined.
  virtual void start(int rank) = 0;
  void finish(int rank) { done_[static_cast<std::size_t>(rank)]->set(); }

  Event& all_joined() { return all_joined_; }
  ActivityId rank_activity(int rank) const { return activities_[static_cast<std::size_t>(rank)]; }
  /// What an observer is told of \p leg.
  ActivityInfo transfer_info(const Leg& leg, ActivityKind kind) const;
  /// Memory at both ends and the wire. \p wire is what the link carries, \p through_l2 whether CUs do the work.
  std::vector<Demand> path(const Leg& leg, Bytes payload, Bytes wire, Bytes staging, bool through_l2) const;

  Cluster& cluster_;
  Simulation& simulation_;
  CollectivePlan plan_;
  TransferGraph graph_;  ///< folded when the cluster is
  std::vector<Move> moves_;
  int width_ = 0;

 private:
  int joined_ = 0;
  Event all_joined_;
  std::vector<std::unique_ptr<Event>> done_;  ///< by simulated rank
  std::vector<ActivityId> activities_;        ///< by simulated rank
};

}  // namespace c3
