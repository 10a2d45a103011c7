#include "collectives/collective_run.hpp"

#include <fmt/format.h>

#include "collectives/cu_collective.hpp"
#include "collectives/dma_collective.hpp"

namespace c3 {

std::unique_ptr<CollectiveRun> CollectiveRun::make(Cluster& cluster, CollectivePlan plan) {
  switch (plan.backend) {
    case Backend::cu:
      return std::make_unique<CuCollective>(cluster, std::move(plan));
    case Backend::dma:
      return std::make_unique<DmaCollective>(cluster, std::move(plan));
  }
  throw std::logic_error("CollectiveRun::make: unknown backend");
}

CollectiveRun::CollectiveRun(Cluster& cluster, CollectivePlan plan)
    : cluster_(cluster),
      simulation_(cluster.simulation()),
      plan_(std::move(plan)),
      graph_(make_transfer_graph(plan_.call, plan_.algorithm, cluster.spec().node)),
      all_joined_(simulation_, "every rank to join " + plan_.name) {
  if (cluster.setup().folded) graph_ = fold(graph_);
  moves_ = plan_moves(graph_, plan_.grain);
  const auto ranks = static_cast<std::size_t>(cluster.simulated_ranks());
  activities_.assign(ranks, kNoActivity);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    done_.push_back(std::make_unique<Event>(simulation_, fmt::format("{} on rank {}", plan_.name, rank)));
  }
}

Task CollectiveRun::join(int rank, Seconds delay, ActivityId* activity) {
  const auto index = static_cast<std::size_t>(rank);
  activities_[index] = simulation_.begin_activity({.name = plan_.name,
                                                   .kind = ActivityKind::collective,
                                                   .gpu = rank,
                                                   .stream = plan_.stream,
                                                   .bytes = plan_.call.bytes});
  if (activity != nullptr) *activity = activities_[index];
  co_await simulation_.sleep(delay);
  start(rank);
  if (++joined_ == cluster_.simulated_ranks()) all_joined_.set();
  co_await *done_[index];
  simulation_.end_activity(activities_[index]);
}

ActivityInfo CollectiveRun::transfer_info(const Leg& leg, ActivityKind kind) const {
  return {.name = plan_.name,
          .kind = kind,
          .gpu = leg.src,
          .stream = plan_.stream,
          .parent = rank_activity(leg.src),
          .bytes = leg.bytes};
}

std::vector<Demand> CollectiveRun::path(const Leg& leg, Bytes payload, Bytes wire, Bytes staging,
                                        bool through_l2) const {
  std::vector<Demand> demands;
  const Memory& source = cluster_.gpu(leg.src).memory();
  const Memory& target = cluster_.gpu(leg.dst).memory();
  source.add_hbm_read(demands, plan_.stream, payload);
  cluster_.interconnect().add_route(demands, plan_.stream, leg.src, leg.dst, wire);
  target.add_hbm_write(demands, plan_.stream, payload + 0.5 * staging);
  target.add_hbm_read(demands, plan_.stream, 0.5 * staging);
  if (through_l2) {
    source.add_l2_everywhere(demands, plan_.stream, payload);
    target.add_l2_everywhere(demands, plan_.stream, staging);
  }
  return demands;
}

}  // namespace c3
