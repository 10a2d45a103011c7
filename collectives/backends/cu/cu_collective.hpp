#pragma once
/// Collectives on compute units, as RCCL and NCCL run them: channels are work groups that hold CU slots.

#include <deque>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "collectives/backends/cu/flow_parts.hpp"
#include "collectives/backends/cu/pipeline_run.hpp"
#include "collectives/backends/cu/ring_run.hpp"
#include "collectives/backends/cu/ring_turns.hpp"
#include "collectives/collective_run.hpp"
#include "collectives/library/channel_protocol.hpp"

namespace c3 { inline namespace collectives {

/// Channel c serves lane c mod places (ChannelProtocol), or all lanes alike where the library splits each
/// channel's threads among peers; channels fewer than lanes serve several each. What serves no lane copies the
/// rank's own shard, at no cost but its CUs. A lane's data are shared evenly by what serves it. A channel
/// starts when its work group is placed on every rank, and keeps its slot until its share is done: one
/// placed late ends late. Channels that start at one instant run as a group. A channel flows payload at its
/// protocol's channel_rate, channels of one CU together at most at cu_rate; `clock_share` of a channel's time
/// per byte scales with the core clock. Wrong when: the library flows data between channels, or its channels
/// leave before their last peer.
class CuCollective final : public CollectiveRun, private Completion {
 public:
  CuCollective(Cluster& cluster, CollectivePlan plan);

  ChannelSlots slots() const override { return slots_; }

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
  struct Group;
  /// The edges of a group's rings.
  class GroupTraffic final : public RingTraffic {
   public:
    GroupTraffic(CuCollective& collective, const Group& group) : collective_(collective), group_(group) {}
    FlowSpec flow(const Leg& leg, FlowParts& parts) const override {
      return collective_.flow_of(group_, collective_.step_of(leg), parts);
    }
    std::uint64_t occupancy(int rank) const override { return collective_.units(rank).changes(); }
    Seconds latency(const Leg& leg) const override { return collective_.latency(collective_.step_of(leg)); }
    ActivityId begin(const Leg& leg, ActivityId before) override;

   private:
    CuCollective& collective_;
    const Group& group_;
  };
  /// The edges of a group's pipeline.
  class GroupPipeline final : public PipelineTraffic {
   public:
    GroupPipeline(CuCollective& collective, const Group& group) : collective_(collective), group_(group) {}
    FlowSpec flow(const PlannedFlow& edge, FlowParts& parts) const override {
      return collective_.flow_of(group_, edge, parts);
    }
    std::uint64_t occupancy(const PlannedFlow& edge) const override {
      return collective_.units(edge.legs.front().src).changes();
    }
    Seconds latency(const PlannedFlow& edge) const override { return collective_.latency(edge); }
    ActivityId begin(const PlannedFlow& edge, double share, std::span<const ActivityId> before) override;

   private:
    CuCollective& collective_;
    const Group& group_;
  };
  struct Group {
    std::vector<int> channels;
    std::vector<double> in_lane;  ///< channels of the group by lane, parts of them counted
    std::vector<std::vector<std::pair<int, double>>> by_lane;  ///< the channels, and what part of each
    std::vector<ActivityId> holding;                           ///< indexed by simulated member
    std::vector<std::unique_ptr<Event>> arrived;               ///< one per flow
    std::vector<ActivityId> transfers;                         ///< one per flow
    std::unique_ptr<GroupTraffic> traffic;
    std::unique_ptr<RingRun> rings;  ///< instead of flows
    std::unique_ptr<GroupPipeline> traffic_of_pipeline;
    std::unique_ptr<PipelineRun> pipeline;  ///< instead of flows
    std::map<int, RingTurns> turns;         ///< indexed by lane, for rings told as edges
  };
  /// What it needs from the first member's start to its end: few of a program's collectives run at a time.
  struct Work {
    std::deque<RankGrid> grids;              ///< one per simulated member
    std::vector<const ComputeUnits*> units;  ///< one per simulated member
    std::vector<int> placed_on;              ///< indexed by channel: members where it is placed
    std::vector<int> ready_channels;         ///< placed everywhere at this instant
    std::deque<Group> groups;
  };
  void begin();
  void start(int rank) override;
  void place(RankGrid& grid, int xcd, std::span<const int> cus);
  void on_complete(std::uint64_t) override;  ///< end of the instant at which channels were placed
  Task run_group(Group* group);
  Task run_planned(Group* group, std::size_t index);
  Task run_rings(Group* group);
  Task run_pipeline(Group* group);
  void hold(Group& group);
  void release(const Group& group);
  void count_slots(const Group& group);
  int copying(int rank, const Place& place) const;  ///< channels, of whichever collective, on that CU

  double part_of(int channel, int lane) const;  ///< how much of a channel serves the lane
  bool takes_part(const Group& group, const PlannedFlow& flow) const;
  Leg share(const Group& group, const Leg& leg) const;
  Leg whole_leg(const Group& group, const PlannedFlow& flow) const;
  Carriage carriage() const;
  int connections(const Leg& leg) const override;  ///< one for each channel of its lane
  Seconds latency(const PlannedFlow& flow) const;
  Seconds exposed_latency(const Group& group, const PlannedFlow& flow) const;
  void find_turns(Group& group) const;
  bool turns(const PlannedFlow& flow) const;
  PlannedFlow step_of(const Leg& leg) const;
  BytesPerSecond channel_rate(int copying) const;
  BytesPerSecond lane_rate(const Group& group, int lane, int rank) const;
  /// What the group's part of \p copy takes on every simulated rank.
  FlowSpec local_flow(const Group& group, const LocalCopy& copy, std::vector<Demand>& demands) const;
  /// Its weight goes with what bounds it at the clock that each GPU has with nothing else running.
  FlowSpec flow_of(const Group& group, const PlannedFlow& flow, FlowParts& parts) const;
  double bound_alone(const Leg& leg, const Carriage& per_byte) const;
  /// A channel's speed on a GPU on which nothing else runs, relative to one at boost clock.
  double usual_speed(int rank) const;
  const ComputeUnits& units(int rank) const { return *work_->units[index_of(rank)]; }

  const CollectiveLibrarySpec& library_;
  WorkGroupNeeds needs_;
  ChannelProtocol protocol_;
  std::unique_ptr<Work> work_;   ///< absent before and after
  std::vector<double> in_lane_;  ///< channels by lane, parts of them counted
  ChannelSlots slots_;
  bool shared_;            ///< every channel serves every lane
  int channels_unplaced_;  ///< not yet placed on every member
  int channels_left_;      ///< channels whose group has not ended
};

}}  // namespace c3::collectives
