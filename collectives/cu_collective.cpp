#include "collectives/cu_collective.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "engine/errors.hpp"

namespace c3 {

CuCollective::CuCollective(Cluster& cluster, CollectivePlan plan)
    : CollectiveRun(cluster, std::move(plan)),
      library_(cluster.spec().library),
      needs_{library_.channel_lds, library_.channel_registers, library_.waves_per_channel, /*computes=*/false},
      channels_unplaced_(channels_of(library_, plan_.algorithm)),
      channels_left_(channels_unplaced_) {
  width_ = channels_left_;
  if (width_ < graph_.lanes) {
    throw InfeasibleError(fmt::format("{}: the {} algorithm needs at least {} channel{}, '{}' has {}",
                                      plan_.name, name_of(plan_.algorithm), graph_.lanes,
                                      graph_.lanes == 1 ? "" : "s", library_.name, width_));
  }
  work_groups_per_cu(cluster.spec().gpu.compute, needs_, plan_.name);  // refuses a channel that fits nowhere
  placed_on_.assign(static_cast<std::size_t>(width_), 0);
  wait_for("CU slots for the channels of " + plan_.name);
  for (const int rank : simulated()) {
    RankGrid& grid = grids_.emplace_back(*this, rank);
    grid.placed_in_xcd.assign(static_cast<std::size_t>(cluster.spec().gpu.compute.xcds), 0);
    grid.channels.resize(static_cast<std::size_t>(width_));
    cluster.gpu(rank).clock(plan_.stream).on_change([this] { rebound_flows(); });
  }
}

void CuCollective::start(int rank) {
  RankGrid& grid = grids_[index_of(rank)];
  cluster_.gpu(rank)
      .dispatcher(plan_.stream)
      .submit({&grid, needs_, width_, plan_.range, plan_.priority, plan_.order});
}

void CuCollective::place(RankGrid& grid, int xcd, std::span<const int> cus) {
  const int xcds = cluster_.spec().gpu.compute.xcds;
  for (const int cu : cus) {
    const int channel = xcd + xcds * grid.placed_in_xcd[static_cast<std::size_t>(xcd)]++;
    const auto index = static_cast<std::size_t>(channel);
    grid.channels[index] = {xcd, cu};
    if (++placed_on_[index] < static_cast<int>(grids_.size())) continue;
    if (ready_channels_.empty()) simulation_.fluid().set_timer(simulation_.now(), *this);
    ready_channels_.push_back(channel);
  }
}

void CuCollective::on_complete(std::uint64_t) {
  Group& group = groups_.emplace_back();
  group.channels = std::exchange(ready_channels_, {});
  channels_unplaced_ -= static_cast<int>(group.channels.size());
  if (channels_unplaced_ == 0) wait_for("the end of " + plan_.name);
  group.in_lane.assign(static_cast<std::size_t>(graph_.lanes), 0);
  for (const int channel : group.channels)
    ++group.in_lane[static_cast<std::size_t>(channel % graph_.lanes)];
  for (std::size_t i = 0; i < moves_.size(); ++i) {
    group.arrived.push_back(std::make_unique<Event>(simulation_, plan_.name + " transfer"));
  }
  group.transfers.assign(moves_.size(), kNoActivity);
  hold(group);
  simulation_.spawn(plan_.name, run_group(&group));
}

void CuCollective::hold(Group& group) {
  for (const RankGrid& grid : grids_) {
    const ActivityId activity = simulation_.begin_activity({.name = plan_.name,
                                                            .kind = ActivityKind::channel,
                                                            .gpu = grid.rank,
                                                            .stream = plan_.stream,
                                                            .parent = rank_activity(grid.rank)});
    group.holding.push_back(activity);
    simulation_.add_dependency(activity, rank_activity(grid.rank), DependencyKind::launch);
    const ComputeUnits& units = cluster_.gpu(grid.rank).dispatcher(plan_.stream).units();
    for (const int channel : group.channels) {
      const Place& place = grid.channels[static_cast<std::size_t>(channel)];
      simulation_.add_dependency(activity, units.last_released_by(place.xcd, place.cu), DependencyKind::slot);
    }
  }
}

Task CuCollective::run_group(Group* group) {
  co_await simulation_.sleep(library_.base_latency);
  for (std::size_t i = 0; i < moves_.size(); ++i) {
    if (takes_part(*group, moves_[i]))
      simulation_.spawn(plan_.name, run_move(group, i), group->arrived[i].get());
  }
  for (std::size_t i = 0; i < moves_.size(); ++i) {
    if (takes_part(*group, moves_[i])) co_await *group->arrived[i];
  }
  release(*group);
  channels_left_ -= static_cast<int>(group->channels.size());
  if (channels_left_ == 0) finish();
}

void CuCollective::release(const Group& group) {
  for (const RankGrid& grid : grids_) {
    const ActivityId holding = group.holding[index_of(grid.rank)];
    simulation_.end_activity(holding);
    Dispatcher& dispatcher = cluster_.gpu(grid.rank).dispatcher(plan_.stream);
    for (const int channel : group.channels) {
      const Place& place = grid.channels[static_cast<std::size_t>(channel)];
      dispatcher.release(place.xcd, place.cu, needs_, holding);
    }
  }
}

Task CuCollective::run_move(Group* group, std::size_t index) {
  const Move& move = moves_[index];
  for (const std::uint32_t before : move.after) {
    if (takes_part(*group, moves_[before])) co_await *group->arrived[before];
  }
  const int rank = move.legs.front().src;
  Leg whole = move.legs.front();
  whole.bytes = Bytes{};
  for (const Leg& leg : move.legs)
    whole.bytes += share(*group, leg).bytes;
  const ActivityId activity = simulation_.begin_activity(transfer_info(whole, ActivityKind::transfer));
  group->transfers[index] = activity;
  simulation_.add_dependency(activity, group->holding[index_of(rank)], DependencyKind::launch);
  for (const std::uint32_t before : move.after) {
    simulation_.add_dependency(activity, group->transfers[before], DependencyKind::data);
  }
  co_await simulation_.sleep(latency(move));
  if (move.behind) co_await *group->arrived[*move.behind];

  std::vector<Demand> demands;
  FlowSpec spec = flow_of(*group, move, demands);
  const double at_boost = spec.bound;
  spec.bound *= clock_factor(rank);
  spec.activity = activity;
  RunningFlow flow(simulation_, spec);
  active_.push_back({flow.id(), rank, at_boost});
  co_await flow;
  std::erase_if(active_, [&flow](const ActiveFlow& active) { return active.flow == flow.id(); });
  simulation_.end_activity(activity);
}

bool CuCollective::takes_part(const Group& group, const Move& move) const {
  return std::ranges::any_of(
      move.legs, [&](const Leg& leg) { return group.in_lane[static_cast<std::size_t>(leg.lane)] > 0; });
}

// The bytes of \p leg that the group's channels own.
Leg CuCollective::share(const Group& group, const Leg& leg) const {
  const int of_lane = (width_ - leg.lane + graph_.lanes - 1) / graph_.lanes;
  Leg part = leg;
  part.bytes = leg.bytes * (static_cast<double>(group.in_lane[static_cast<std::size_t>(leg.lane)]) / of_lane);
  return part;
}

BytesPerSecond CuCollective::lane_rate(const Group& group, int lane, int rank) const {
  const RankGrid& grid = grids_[index_of(rank)];
  const ComputeUnits& units = cluster_.gpu(rank).dispatcher(plan_.stream).units();
  BytesPerSecond rate;
  for (const int channel : group.channels) {
    if (channel % graph_.lanes != lane) continue;
    const Place& place = grid.channels[static_cast<std::size_t>(channel)];
    const int copying = units.residents(place.xcd, place.cu) - units.computing(place.xcd, place.cu);
    rate += std::min(library_.channel_rate, library_.cu_rate / static_cast<double>(std::max(1, copying)));
  }
  return rate;
}

CollectiveRun::Carriage CuCollective::carriage() const {
  const BytesPerSecond payload =
      plan_.algorithm == Algorithm::nvls ? library_.nvls_payload : library_.link_payload;
  // No protocol makes a link faster, whatever a draw of both numbers says.
  const double wire = std::max(1.0, cluster_.spec().node.link.both_ways / payload);
  return {wire, library_.staging_bytes, /*through_l2=*/true};
}

Seconds CuCollective::latency(const Move& move) const {
  if (plan_.algorithm == Algorithm::nvls) return library_.nvls_latency;
  return library_.hop_latency * static_cast<double>(move.hops);
}

FlowSpec CuCollective::flow_of(const Group& group, const Move& move, std::vector<Demand>& demands) const {
  const Carriage per_byte = carriage();
  std::map<std::pair<int, int>, Bytes> by_lane;  // (src, lane): the bytes that its channels move
  Bytes at_hbm;
  for (const Leg& whole : move.legs) {
    const Leg leg = share(group, whole);
    if (leg.bytes.value <= 0.0) continue;
    for (const Demand& demand : path(leg, per_byte))
      add_demand(demands, demand.resource, demand.amount);
    by_lane[{leg.src, leg.lane}] += leg.bytes;
    at_hbm += leg.bytes * (2.0 + per_byte.staging);
  }
  FlowSpec spec;
  int channels = 0;
  for (const auto& [sender, bytes] : by_lane) {
    const auto [src, lane] = sender;
    spec.bound = std::min(spec.bound, lane_rate(group, lane, src).value / bytes.value);
    channels += group.in_lane[static_cast<std::size_t>(lane)];
  }
  spec.demands = demands;
  const Memory& memory = cluster_.gpu(move.legs.front().src).memory();
  spec.weight = memory.weight(library_.channel_outstanding, channels, at_hbm, spec.bound);
  return spec;
}

double CuCollective::clock_factor(int rank) const {
  const CoreClock& clock = cluster_.gpu(rank).clock(plan_.stream);
  const double slower = clock.boost() / clock.current();
  return 1.0 / (1.0 - library_.clock_share + library_.clock_share * slower);
}

void CuCollective::rebound_flows() {
  for (const ActiveFlow& active : active_) {
    simulation_.fluid().set_bound(active.flow, active.bound * clock_factor(active.rank));
  }
}

}  // namespace c3
