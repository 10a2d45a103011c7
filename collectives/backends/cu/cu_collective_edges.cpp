// How a group of channels sends what edges wait for: rings told as edges, rings chunk by chunk, and pipelines
// piece by piece.

#include <algorithm>

#include "collectives/algorithms/entry.hpp"
#include "collectives/backends/cu/cu_collective.hpp"

namespace c3 { inline namespace collectives {

// --- Rings told as edges, whose steps hide latency of one another where edges differ.

bool CuCollective::turns(const PlannedFlow& flow) const {
  const bool is_ring = plan_.method.algorithm->channels.use == ChannelUse::rings && !graph_.pipelined;
  return is_ring && (plan_.ring_chunks > 1 || (flow.hops > 0 && flow.network_hops > 0));
}

void CuCollective::find_turns(Group& group) const {
  EdgeTimes edges(simulation_.fluid().rates());
  const Carriage per_byte = carriage();
  for (const PlannedFlow& flow : planned_) {
    if (!turns(flow) || !takes_part(group, flow)) continue;
    for (const Leg& whole : flow.legs) {
      const Leg leg = share(group, whole);
      if (leg.bytes.value <= 0.0) continue;
      const Seconds at_channels = leg.bytes / (lane_rate(group, leg.lane, leg.src) * usual_speed(leg.src));
      if (leg.shares == nullptr) {
        const std::span<const Demand> demands = path(leg, per_byte);
        edges.add(leg.lane, leg.op, at_channels, demands, edges.longest(demands), 1.0);
      } else {
        const Seconds alone = edges.longest(path_alone(leg, per_byte));
        edges.add(leg.lane, leg.op, at_channels, path(leg, per_byte), alone, leg.shares->edges);
      }
    }
  }
  group.turns = edges.turns();
}

Seconds CuCollective::exposed_latency(const Group& group, const PlannedFlow& flow) const {
  if (!turns(flow)) return latency(flow);
  PlannedFlow one_step = flow;
  one_step.network_hops = std::min(flow.network_hops, 1);
  one_step.hops = 1 - one_step.network_hops;
  Seconds longest, slowest;  // over all lanes, which a gang moves at one pace
  for (const Leg& leg : flow.legs) {
    const auto found = group.turns.find(leg.lane);
    if (found == group.turns.end()) continue;
    const RingTurns& lane = found->second;
    longest = std::max(longest, lane.slowest + lane.beyond_slowest(latency(flow), plan_.ring_chunks));
    slowest = std::max(slowest, lane.slowest);
  }
  return std::max(latency(one_step), longest - slowest);
}

// --- Rings, chunk by chunk.

Task CuCollective::run_rings(Group* group) {
  std::vector<TurningRing> rings = rings_;
  std::erase_if(rings, [group](const TurningRing& ring) {
    return group->in_lane[static_cast<std::size_t>(ring.lane)] == 0.0;
  });
  group->traffic = std::make_unique<GroupTraffic>(*this, *group);
  group->rings = std::make_unique<RingRun>(simulation_, *group->traffic, rings, plan_.ring_chunks,
                                           cluster_.setup().folded);
  group->rings->start();
  co_await group->rings->done();
}

PlannedFlow CuCollective::step_of(const Leg& leg) const {
  const bool crosses = leg.src / graph_.node_gpus != leg.dst / graph_.node_gpus;
  return {.legs = {leg}, .hops = crosses ? 0 : 1, .network_hops = crosses ? 1 : 0, .after = {}};
}

ActivityId CuCollective::GroupTraffic::begin(const Leg& leg, ActivityId before) {
  Simulation& simulation = collective_.simulation_;
  const Leg part = collective_.share(group_, leg);
  const ActivityId activity =
      simulation.begin_activity(collective_.transfer_info(part, ActivityKind::transfer));
  simulation.add_dependency(activity, group_.holding[collective_.index_of(leg.src)], DependencyKind::launch);
  simulation.add_dependency(activity, before, DependencyKind::data);
  return activity;
}

// --- Pipelines, piece by piece.

Task CuCollective::run_pipeline(Group* group) {
  const Pipeline& pipeline = schedule_->pipeline;
  std::vector<bool> takes;
  takes.reserve(pipeline.edges.size());
  for (const PlannedFlow& edge : pipeline.edges)
    takes.push_back(takes_part(*group, edge));
  group->traffic_of_pipeline = std::make_unique<GroupPipeline>(*this, *group);
  group->pipeline = std::make_unique<PipelineRun>(simulation_, *group->traffic_of_pipeline, pipeline, takes);
  group->pipeline->start();
  co_await group->pipeline->done();
}

ActivityId CuCollective::GroupPipeline::begin(const PlannedFlow& edge, double share,
                                              std::span<const ActivityId> before) {
  Simulation& simulation = collective_.simulation_;
  Leg part = collective_.whole_leg(group_, edge);
  part.bytes = part.bytes * share;
  const ActivityId activity =
      simulation.begin_activity(collective_.transfer_info(part, ActivityKind::transfer));
  const int rank = collective_.cluster_.stand_in(part.src);
  simulation.add_dependency(activity, group_.holding[collective_.index_of(rank)], DependencyKind::launch);
  for (const ActivityId transfer : before)
    simulation.add_dependency(activity, transfer, DependencyKind::data);
  return activity;
}

}}  // namespace c3::collectives
