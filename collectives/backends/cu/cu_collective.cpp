#include "collectives/backends/cu/cu_collective.hpp"

#include <algorithm>
#include <cmath>

#include "collectives/algorithms/entry.hpp"

namespace c3 { inline namespace collectives {
namespace {

bool serve_all_peers(Algorithm algorithm, const CollectiveLibrarySpec& library) {
  const ChannelUse use = algorithm->channels.use;
  return use == ChannelUse::windows || (use == ChannelUse::pairs && library.peers_share_channels);
}

}  // namespace

CuCollective::CuCollective(Cluster& cluster, CollectivePlan plan)
    : CollectiveRun(cluster, std::move(plan)),
      library_(cluster.spec().library),
      needs_{library_.channel_lds, library_.channel_registers, library_.waves_per_channel, /*computes=*/false},
      protocol_(cluster.spec(), plan_.call, plan_.method, graph_),
      shared_(serve_all_peers(plan_.method.algorithm, library_)),
      channels_unplaced_(protocol_.width()),
      channels_left_(channels_unplaced_) {
  width_ = channels_left_;
  work_groups_per_cu(cluster.spec().gpu.compute, needs_, plan_.name);  // refuses a channel that fits nowhere
  for (int lane = 0; lane < graph_.lanes; ++lane) {
    double& in_lane = in_lane_.emplace_back(0.0);
    for (int channel = 0; channel < width_; ++channel)
      in_lane += part_of(channel, lane);
  }
}

void CuCollective::begin() {
  wait_for("CU slots for the channels of " + plan_.name);
  work_ = std::make_unique<Work>();
  work_->placed_on.assign(static_cast<std::size_t>(width_), 0);
  for (const int rank : simulated()) {
    RankGrid& grid = work_->grids.emplace_back(*this, rank);
    grid.placed_in_xcd.assign(static_cast<std::size_t>(cluster_.spec().gpu.compute.xcds), 0);
    grid.channels.resize(static_cast<std::size_t>(width_));
    work_->units.push_back(&cluster_.gpu(rank).dispatcher(plan_.stream).units());
  }
}

void CuCollective::start(int rank) {
  if (!work_) begin();
  RankGrid& grid = work_->grids[index_of(rank)];
  cluster_.gpu(rank)
      .dispatcher(plan_.stream)
      .submit({&grid, needs_, width_, plan_.range, plan_.priority, plan_.order, plan_.draw});
}

void CuCollective::place(RankGrid& grid, int xcd, std::span<const int> cus) {
  const int xcds = cluster_.spec().gpu.compute.xcds;
  for (const int cu : cus) {
    const int channel = xcd + xcds * grid.placed_in_xcd[static_cast<std::size_t>(xcd)]++;
    const auto index = static_cast<std::size_t>(channel);
    grid.channels[index] = {xcd, cu};
    if (++work_->placed_on[index] < static_cast<int>(work_->grids.size())) continue;
    if (work_->ready_channels.empty()) simulation_.fluid().set_timer(simulation_.now(), *this);
    work_->ready_channels.push_back(channel);
  }
}

void CuCollective::on_complete(std::uint64_t) {
  Group& group = work_->groups.emplace_back();
  group.channels = std::exchange(work_->ready_channels, {});
  channels_unplaced_ -= static_cast<int>(group.channels.size());
  if (channels_unplaced_ == 0) wait_for("the end of " + plan_.name);
  group.by_lane.resize(static_cast<std::size_t>(graph_.lanes));
  for (int lane = 0; lane < graph_.lanes; ++lane) {
    double& in_lane = group.in_lane.emplace_back(0.0);
    for (const int channel : group.channels) {
      const double part = part_of(channel, lane);
      if (part == 0.0) continue;
      in_lane += part;
      group.by_lane[static_cast<std::size_t>(lane)].push_back({channel, part});
    }
  }
  for (std::size_t i = 0; i < planned_.size(); ++i) {
    group.arrived.push_back(std::make_unique<Event>(simulation_));
    group.arrived.back()->describe_by([this] { return plan_.name + " transfer"; });
  }
  group.transfers.assign(planned_.size(), kNoActivity);
  hold(group);
  count_slots(group);
  simulation_.spawn(plan_.name, run_group(&group));
}

// A message that its sender writes into a buffer has no date from which both ends wait.
void CuCollective::count_slots(const Group& group) {
  if (plan_.buffered != nullptr) return;
  const double waited = (simulation_.now() - last_joined()).value;
  for (const RankGrid& grid : work_->grids) {
    for (const int channel : group.channels) {
      slots_.waited += waited;
      slots_.placed += 1.0;
      const int neighbours = copying(grid.rank, grid.channels[static_cast<std::size_t>(channel)]);
      if (neighbours < 2) continue;
      slots_.crowded += 1.0;
      slots_.crowded_rate += channel_rate(neighbours) / channel_rate(1);
    }
  }
}

int CuCollective::copying(int rank, const Place& place) const {
  return units(rank).residents(place.xcd, place.cu) - units(rank).computing(place.xcd, place.cu);
}

void CuCollective::hold(Group& group) {
  for (const RankGrid& grid : work_->grids) {
    const ActivityId activity = simulation_.begin_activity({.name = plan_.name,
                                                            .kind = ActivityKind::channel,
                                                            .gpu = grid.rank,
                                                            .stream = plan_.stream,
                                                            .parent = rank_activity(grid.rank),
                                                            .work_groups = std::ssize(group.channels)});
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
  const Seconds base = plan_.end == PairEnd::sender ? protocol_.setup() : protocol_.base();
  co_await simulation_.sleep(base);
  if (plan_.buffered != nullptr) {
    co_await plan_.buffered->has_room;
    plan_.buffered->moves_from = std::max(plan_.buffered->moves_from, simulation_.now() - base);
  }
  if (!rings_.empty()) co_await run_rings(group);
  if (!schedule_->pipeline.edges.empty()) co_await run_pipeline(group);
  find_turns(*group);
  for (std::size_t i = 0; i < planned_.size(); ++i) {
    if (takes_part(*group, planned_[i]))
      simulation_.spawn(plan_.name, run_planned(group, i), group->arrived[i].get());
  }
  for (std::size_t i = 0; i < planned_.size(); ++i) {
    if (takes_part(*group, planned_[i])) co_await *group->arrived[i];
  }
  if (const std::optional<LocalCopy> copy = protocol_.local_copy()) {
    std::vector<Demand> demands;
    const FlowSpec spec = local_flow(*group, *copy, demands);
    RunningFlow flow(simulation_, spec);
    co_await flow;
  }
  if (plan_.buffered == nullptr)
    slots_.lasted += static_cast<double>(group->channels.size() * work_->grids.size()) *
                     (simulation_.now() - last_joined()).value;
  release(*group);
  channels_left_ -= static_cast<int>(group->channels.size());
  if (channels_left_ > 0) co_return;
  if (plan_.end == PairEnd::sender) plan_.buffered->has_come.set();
  work_.reset();
  finish();
}

void CuCollective::release(const Group& group) {
  for (const RankGrid& grid : work_->grids) {
    const ActivityId holding = group.holding[index_of(grid.rank)];
    simulation_.end_activity(holding);
    Dispatcher& dispatcher = cluster_.gpu(grid.rank).dispatcher(plan_.stream);
    for (const int channel : group.channels) {
      const Place& place = grid.channels[static_cast<std::size_t>(channel)];
      dispatcher.release(grid, place.xcd, place.cu, needs_, holding);
    }
  }
}

Task CuCollective::run_planned(Group* group, std::size_t index) {
  const PlannedFlow& planned = planned_[index];
  for (const std::uint32_t before : planned.after) {
    if (takes_part(*group, planned_[before])) co_await *group->arrived[before];
  }
  const int rank = cluster_.stand_in(planned.legs.front().src);
  const Leg whole = whole_leg(*group, planned);
  const ActivityId activity = simulation_.begin_activity(transfer_info(whole, ActivityKind::transfer));
  group->transfers[index] = activity;
  simulation_.add_dependency(activity, group->holding[index_of(rank)], DependencyKind::launch);
  for (const std::uint32_t before : planned.after) {
    simulation_.add_dependency(activity, group->transfers[before], DependencyKind::data);
  }
  co_await simulation_.sleep(exposed_latency(*group, planned));
  if (planned.behind && takes_part(*group, planned_[*planned.behind]))
    co_await *group->arrived[*planned.behind];

  FlowParts parts;
  FlowSpec spec = flow_of(*group, planned, parts);
  spec.activity = activity;
  RunningFlow flow(simulation_, spec);
  co_await flow;
  simulation_.end_activity(activity);
}

double CuCollective::part_of(int channel, int lane) const {
  if (shared_) return 1.0 / graph_.lanes;
  if (width_ >= graph_.lanes) return channel % protocol_.places() == lane ? 1.0 : 0.0;
  const int served = (graph_.lanes - channel + width_ - 1) / width_;
  return lane % width_ == channel ? 1.0 / served : 0.0;
}

bool CuCollective::takes_part(const Group& group, const PlannedFlow& flow) const {
  return std::ranges::any_of(
      flow.legs, [&](const Leg& leg) { return group.in_lane[static_cast<std::size_t>(leg.lane)] > 0.0; });
}

// The bytes of \p leg that the group's channels own.
Leg CuCollective::share(const Group& group, const Leg& leg) const {
  const auto lane = static_cast<std::size_t>(leg.lane);
  Leg part = leg;
  part.bytes = leg.bytes * (group.in_lane[lane] / in_lane_[lane]);
  return part;
}

// The first, with the bytes of all.
Leg CuCollective::whole_leg(const Group& group, const PlannedFlow& flow) const {
  Leg whole = flow.legs.front();
  whole.bytes = Bytes{};
  for (const Leg& leg : flow.legs)
    whole.bytes += share(group, leg).bytes;
  return whole;
}

BytesPerSecond CuCollective::channel_rate(int copying) const {
  return std::min(protocol_.channel_rate(), protocol_.cu_rate() / static_cast<double>(std::max(1, copying)));
}

BytesPerSecond CuCollective::lane_rate(const Group& group, int lane, int rank) const {
  const RankGrid& grid = work_->grids[index_of(rank)];
  BytesPerSecond rate;
  for (const auto& [channel, part] : group.by_lane[static_cast<std::size_t>(lane)]) {
    const Place& place = grid.channels[static_cast<std::size_t>(channel)];
    rate += part * channel_rate(copying(rank, place));
  }
  return rate;
}

CollectiveRun::Carriage CuCollective::carriage() const {
  // No protocol makes a link faster, whatever a draw of both numbers says.
  const double wire = std::max(1.0, cluster_.spec().node.link.both_ways / protocol_.link_payload());
  return {wire, protocol_.network_bytes(), library_.staging_bytes, /*through_l2=*/true};
}

int CuCollective::connections(const Leg& leg) const {
  return std::max(1, static_cast<int>(std::lround(in_lane_[static_cast<std::size_t>(leg.lane)])));
}

Seconds CuCollective::latency(const PlannedFlow& flow) const { return protocol_.latency(flow); }

namespace {

/// The bytes that the channels of one lane move for one rank.
struct Sent {
  int src, lane;
  Bytes bytes;
};

}  // namespace

FlowSpec CuCollective::flow_of(const Group& group, const PlannedFlow& flow, FlowParts& parts) const {
  const Carriage per_byte = carriage();
  std::vector<Sent> sent;
  sent.reserve(flow.legs.size());
  Bytes at_hbm;
  parts.laws.clear();
  FlowSpec spec;
  DemandSums& sums = cluster_.demand_sums();
  for (const Leg& whole : flow.legs) {
    const Leg leg = share(group, whole);
    if (leg.bytes.value <= 0.0) continue;
    sums.add(path(leg, per_byte));
    spec.bound = std::min(spec.bound, bound_alone(leg, per_byte));
    sent.push_back({leg.src, leg.lane, leg.bytes});
    at_hbm += leg.bytes * (2.0 + per_byte.staging);
  }
  parts.demands = sums.take();
  const double of_protocol = protocol_.bound(flow);
  double channels = 0.0;
  double usual = spec.bound;
  std::ranges::stable_sort(sent, {}, [](const Sent& part) { return std::pair(part.src, part.lane); });
  for (std::size_t i = 0; i < sent.size();) {
    const auto [src, lane, first] = sent[i];
    Bytes bytes = first;
    for (++i; i < sent.size() && sent[i].src == src && sent[i].lane == lane;
         ++i)  // all edges at once, or in turn
      bytes = graph_.pipelined ? std::max(bytes, sent[i].bytes) : bytes + sent[i].bytes;
    const int rank = cluster_.stand_in(src);
    const double of_channels = std::min(of_protocol, lane_rate(group, lane, src).value / bytes.value);
    usual = std::min(usual, of_channels * usual_speed(rank));
    if (library_.clock_share > 0.0) {
      const DomainId domain = cluster_.gpu(rank).clock(plan_.stream).channels();
      parts.add_channels(domain, 1.0 / of_channels, library_.clock_share);
    } else {
      spec.bound = std::min(spec.bound, of_channels);
    }
    channels += group.in_lane[static_cast<std::size_t>(lane)];
  }
  spec.demands = parts.demands;
  spec.laws = parts.laws;
  const Memory& memory = cluster_.gpu(flow.legs.front().src).memory();
  spec.priority = memory.communication_class();
  spec.weight =
      memory.weight(library_.channel_outstanding, static_cast<int>(std::ceil(channels)), at_hbm, usual);
  return spec;
}

// An edge takes no more than links of its own carry, though its mean on all of a class takes less of each.
double CuCollective::bound_alone(const Leg& leg, const Carriage& per_byte) const {
  double bound = kUnbounded;
  if (leg.shares == nullptr) return bound;
  const FlowSolver& rates = simulation_.fluid().rates();
  for (const Demand& demand : path_alone(leg, per_byte))
    bound = std::min(bound, rates.capacity(demand.resource) / demand.amount);
  return bound;
}

FlowSpec CuCollective::local_flow(const Group& group, const LocalCopy& copy,
                                  std::vector<Demand>& demands) const {
  const auto channels = static_cast<int>(group.channels.size());
  const Bytes bytes = copy.bytes * (static_cast<double>(channels) / width_);
  std::vector<Demand> of_rank;  // ranks share no memory, so that each looks through its own demands alone
  for (const int rank : simulated()) {
    of_rank.clear();
    cluster_.gpu(rank).memory().add_hbm_read(of_rank, plan_.stream, bytes);
    cluster_.gpu(rank).memory().add_hbm_write(of_rank, plan_.stream, bytes);
    demands.insert(demands.end(), of_rank.begin(), of_rank.end());
  }
  const Memory& memory = cluster_.gpu(simulated().front()).memory();
  FlowSpec spec;
  spec.demands = demands;
  spec.bound = 1.0 / copy.time.value;
  spec.weight = memory.weight(library_.channel_outstanding, channels, 2.0 * bytes, spec.bound);
  spec.priority = memory.communication_class();
  spec.account = rank_activity(simulated().front());
  return spec;
}

double CuCollective::usual_speed(int rank) const {
  const double slower = cluster_.gpu(rank).slower();
  const double share = library_.clock_share;
  return slower == 1.0 ? 1.0 : 1.0 / (1.0 - share + share * slower);  // exactly 1, whatever the share rounds to
}

}}  // namespace c3::collectives
