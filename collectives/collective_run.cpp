#include "collectives/collective_run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace c3 { inline namespace collectives {

namespace {

/// Ranks that are simulated for all members that take part, each once.
std::vector<int> simulated_for(const Cluster& cluster, const CollectivePlan& plan,
                               const CollectiveSchedule& schedule) {
  if (cluster.setup().folded) return {0};
  if (plan.end != PairEnd::both)
    return {cluster.stand_in(plan.end == PairEnd::sender ? plan.call.ranks.front() : plan.call.ranks.back())};
  return cluster.setup().classes ? schedule.stand_ins : schedule.graph.members;
}

}  // namespace

CollectiveRun::CollectiveRun(Cluster& cluster, CollectivePlan plan)
    : cluster_(cluster),
      simulation_(cluster.simulation()),
      plan_(std::move(plan)),
      schedule_(cluster.schedules().of(plan_)),
      rings_(schedule_->rings),
      graph_(schedule_->graph),
      planned_(schedule_->flows),
      simulated_(simulated_for(cluster, plan_, *schedule_)),
      has_joined_(simulated_.size()),
      all_joined_(simulation_),
      done_(simulation_, "the end of " + plan_.name),
      activities_(simulated_.size(), kNoActivity) {
  const auto [first, last] = std::ranges::minmax(simulated_);
  first_rank_ = first;
  index_of_rank_.assign(static_cast<std::size_t>(last - first + 1), simulated_.size());
  for (std::size_t i = 0; i < simulated_.size(); ++i)
    index_of_rank_[static_cast<std::size_t>(simulated_[i] - first)] = i;
  plan_.grain = schedule_->grain;
  if (cluster.setup().classes) folded_calls_.push_back(schedule_->folded_call);
  all_joined_.describe_by([this] { return fmt::format("{} to join {}", absent_ranks(), plan_.name); });
}

double CollectiveRun::inequity() const {
  double greatest = schedule_->inequity;
  for (const std::size_t call : folded_calls_)
    greatest = std::max(greatest, cluster_.interconnect().inequity_of(call));
  return greatest;
}

bool CollectiveRun::has_member(int rank) const { return index_of(rank) < simulated_.size(); }

Task CollectiveRun::join(int rank, Seconds delay, ActivityId* activity, ActivityId parent) {
  const std::size_t index = index_of(rank);
  open_activity(rank, parent);
  if (activity != nullptr) *activity = activities_[index];
  co_await simulation_.sleep(delay);
  CoreClock& clock = cluster_.gpu(rank).clock(plan_.stream);
  RecentWork& work = cluster_.gpu(rank).work();
  clock.begin_collective();
  work.begin(plan_.name);
  start(rank);
  has_joined_[index] = true;
  if (++joined_ == simulated_.size()) {
    last_joined_ = simulation_.now();
    all_joined_.set();
  }
  co_await all_joined_;
  co_await done_;
  work.end(plan_.name);
  clock.end_collective();
  simulation_.end_activity(activities_[index]);
}

void CollectiveRun::open_activity(int rank, ActivityId parent) {
  ActivityId& activity = activities_[index_of(rank)];
  if (activity != kNoActivity) return;
  activity = simulation_.begin_activity({.name = plan_.name,
                                         .kind = ActivityKind::collective,
                                         .gpu = rank,
                                         .stream = plan_.stream,
                                         .parent = parent,
                                         .bytes = counted_bytes(plan_.call, members()),
                                         .work_groups = plan_.backend == Backend::cu ? width_ : 0});
}

void CollectiveRun::finish() { done_.set(); }

int CollectiveRun::alike() const {
  return plan_.call.groups ? std::min(plan_.call.groups->block(), cluster_.spec().node.gpus) : 0;
}

std::string CollectiveRun::absent_ranks() const {
  constexpr std::size_t kNamed = 16;
  const std::size_t count = simulated_.size() - joined_;
  std::vector<int> named;
  for (std::size_t i = 0; named.size() < std::min(count, kNamed); ++i) {
    if (!has_joined_[i]) named.push_back(simulated_[i]);
  }
  const std::string others = count > kNamed ? fmt::format(" and {} others", count - kNamed) : "";
  return fmt::format("rank{} {}{}", count == 1 ? "" : "s", fmt::join(named, ", "), others);
}

ActivityInfo CollectiveRun::transfer_info(const Leg& leg, ActivityKind kind) const {
  return {.name = plan_.name,
          .kind = kind,
          .gpu = cluster_.stand_in(leg.src),
          .stream = plan_.stream,
          .parent = rank_activity(cluster_.stand_in(leg.src)),
          .bytes = leg.bytes};
}

std::span<const Demand> CollectiveRun::path_alone(const Leg& leg, const Carriage& carriage) const {
  if (leg.shares == nullptr || leg.src == leg.dst) return path(leg, carriage);
  LegShares one;
  one.set = leg.shares->set;
  Leg alone = leg;
  alone.shares = &one;
  path_.clear();
  add_link_path(path_, alone, carriage, /*alone=*/true);
  return path_;
}

std::span<const Demand> CollectiveRun::path(const Leg& leg, const Carriage& carriage) const {
  path_.clear();
  if (leg.op == TransferOp::fabric_all_reduce) {
    add_fabric_path(path_, leg, carriage);
  } else if (leg.src == leg.dst) {
    add_switch_path(path_, leg, carriage);
  } else {
    add_link_path(path_, leg, carriage);
  }
  return path_;
}

// A store may be staged. An update is: the sender writes into a buffer, from which the receiver adds.
void CollectiveRun::add_link_path(std::vector<Demand>& demands, const Leg& leg, const Carriage& carriage,
                                  bool alone) const {
  const Memory& source = cluster_.gpu(leg.src).memory();
  const Memory& target = cluster_.gpu(leg.dst).memory();
  const int stream = plan_.stream;
  const bool adds = leg.op == TransferOp::update;
  const Bytes sent = leg.bytes * edges_from(leg);
  const Bytes received = leg.bytes * (leg.shares == nullptr ? 1.0 : leg.shares->of_receiver);
  const Bytes staging = adds ? Bytes{} : received * carriage.staging;
  source.add_hbm_read(demands, stream, sent * carriage.read);
  add_links(demands, leg, carriage, alone);
  target.add_hbm_write(demands, stream, received * carriage.write + 0.5 * staging);
  target.add_hbm_read(demands, stream, adds ? received : 0.5 * staging);
  if (!carriage.through_l2) return;
  source.add_l2_stream(demands, stream, sent);
  target.add_l2_stream(demands, stream, adds ? received : staging);
}

double CollectiveRun::edges_from(const Leg& leg) { return leg.shares == nullptr ? 1.0 : leg.shares->of_sender; }

void CollectiveRun::add_links(std::vector<Demand>& demands, const Leg& leg, const Carriage& carriage,
                              bool alone) const {
  const Interconnect& links = cluster_.interconnect();
  const double wire = links.crosses(leg.src, leg.dst) ? carriage.network : carriage.wire;
  const Bytes bytes = leg.bytes * wire;
  if (leg.shares == nullptr) {
    links.add_route(demands, plan_.stream, leg.src, leg.dst, bytes, leg.lane, leg.messages, alike(),
                    connections(leg));
  } else if (alone) {
    links.add_first(demands, plan_.stream, leg.shares->set, bytes, leg.messages);
  } else {
    links.add_set(demands, plan_.stream, leg.shares->set, bytes, leg.messages);
  }
}

// Every member's port carries what the switch reads from it, the initiator's what the switch answers; a
// multicast is the reverse.
void CollectiveRun::add_switch_path(std::vector<Demand>& demands, const Leg& leg,
                                    const Carriage& carriage) const {
  const bool gathers = leg.op != TransferOp::switch_multicast;
  const bool spreads = leg.op != TransferOp::switch_reduce;
  const Interconnect& links = cluster_.interconnect();
  const int stream = plan_.stream;
  const Bytes wire = leg.bytes * carriage.wire;
  const auto add_member = [&](int rank, double times) {
    const Memory& memory = cluster_.gpu(rank).memory();
    const Bytes bytes = leg.bytes * times;
    const Bytes staged = bytes * (0.5 * carriage.staging);
    if (gathers) {
      memory.add_hbm_read(demands, stream, bytes + staged);
      memory.add_hbm_write(demands, stream, staged);
      if (leg.shares == nullptr) links.add_to_switch(demands, stream, rank, wire);
    }
    if (spreads) {
      memory.add_hbm_write(demands, stream, bytes + staged);
      memory.add_hbm_read(demands, stream, staged);
      if (leg.shares == nullptr) links.add_from_switch(demands, stream, rank, wire);
    }
  };
  if (leg.shares != nullptr) {
    for (const auto& [rank, times] : leg.shares->members)
      add_member(rank, times);
    links.add_set(demands, stream, leg.shares->set, wire, leg.messages);
  } else {
    for (const int member : graph_.members) {
      if (links.node_of(member) == links.node_of(leg.src)) add_member(cluster_.stand_in(member), 1.0);
    }
    if (gathers) links.add_from_switch(demands, stream, leg.src, wire);
    if (spreads) links.add_to_switch(demands, stream, leg.src, wire);
  }
  const Memory& initiator = cluster_.gpu(leg.src).memory();
  const Bytes own = leg.bytes * edges_from(leg);
  if (!spreads) initiator.add_hbm_write(demands, stream, own);
  if (!gathers) initiator.add_hbm_read(demands, stream, own);
  if (carriage.through_l2) initiator.add_l2_stream(demands, stream, own);
}

// Out through the rank's NICs to switches that add, and the sum back.
void CollectiveRun::add_fabric_path(std::vector<Demand>& demands, const Leg& leg,
                                    const Carriage& carriage) const {
  const Memory& memory = cluster_.gpu(leg.src).memory();
  const Interconnect& links = cluster_.interconnect();
  if (leg.shares != nullptr) {
    links.add_set(demands, plan_.stream, leg.shares->set, leg.bytes, leg.messages);
  } else {
    links.add_to_fabric(demands, plan_.stream, leg.src, leg.bytes, leg.messages);
    links.add_from_fabric(demands, plan_.stream, leg.src, leg.bytes, leg.messages);
  }
  const Bytes own = leg.bytes * edges_from(leg);
  memory.add_hbm_read(demands, plan_.stream, own);
  memory.add_hbm_write(demands, plan_.stream, own);
  if (carriage.through_l2) memory.add_l2_stream(demands, plan_.stream, own);
}

}}  // namespace c3::collectives
