#pragma once
/// Collectives on compute units, as RCCL and NCCL run them: channels are work groups that hold CU slots.

#include <deque>
#include <span>
#include <vector>

#include "collectives/collective_run.hpp"

namespace c3 {

/// Channel c serves lane c mod lanes and owns an equal share of the lane's data. It starts when its work group
/// is placed on every rank, and keeps its slot until its share is done: a channel placed late ends late.
/// Channels that start at one instant run as a group. A channel moves payload at channel_rate, channels of
/// one CU together at most at cu_rate; `clock_share` of a channel's time per byte scales with the core clock.
/// Wrong when: the library moves data between channels, or its channels leave before their last peer.
class CuCollective final : public CollectiveRun, private Completion {
 public:
  CuCollective(Cluster& cluster, CollectivePlan plan);

 private:
  struct Place {
    int xcd = 0;
    int cu = 0;
  };
  struct RankGrid final : DispatchClient {
    RankGrid(CuCollective& o, int r) : owner(&o), rank(r) {}
    void on_placed(int xcd, std::span<const int> cus) override { owner->place(*this, xcd, cus); }
    CuCollective* owner;
    int rank;
    std::vector<int> placed_in_xcd;
    std::vector<Place> channels;
  };
  struct Group {
    std::vector<int> channels;
    std::vector<int> in_lane;                     ///< channels of the group by lane
    std::vector<ActivityId> holding;              ///< by simulated member
    std::vector<std::unique_ptr<Event>> arrived;  ///< by move
    std::vector<ActivityId> transfers;            ///< by move
  };
  struct ActiveFlow {
    FlowId flow;
    int rank;
    double bound;  ///< at boost clock [1/s]
  };

  void start(int rank) override;
  void place(RankGrid& grid, int xcd, std::span<const int> cus);
  void on_complete(std::uint64_t) override;  ///< end of the instant at which channels were placed
  Task run_group(Group* group);
  Task run_move(Group* group, std::size_t index);
  void hold(Group& group);
  void release(const Group& group);

  bool takes_part(const Group& group, const Move& move) const;
  Leg share(const Group& group, const Leg& leg) const;
  Carriage carriage() const;
  Seconds latency(const Move& move) const;
  BytesPerSecond lane_rate(const Group& group, int lane, int rank) const;
  FlowSpec flow_of(const Group& group, const Move& move, std::vector<Demand>& demands) const;
  double clock_factor(int rank) const;
  void rebound_flows();

  const CollectiveLibrarySpec& library_;
  WorkGroupNeeds needs_;
  std::deque<RankGrid> grids_;       ///< by simulated member
  std::vector<int> placed_on_;       ///< by channel: members where it is placed
  std::vector<int> ready_channels_;  ///< placed everywhere at this instant
  std::deque<Group> groups_;
  std::vector<ActiveFlow> active_;
  int channels_unplaced_;  ///< not yet placed on every member
  int channels_left_;      ///< whose group has not ended
};

}  // namespace c3
