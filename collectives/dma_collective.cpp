#include "collectives/dma_collective.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "engine/errors.hpp"

namespace c3 {

namespace {

/// Before the graph is made, so that what copy engines can never do is said first.
CollectivePlan only_copies(CollectivePlan plan) {
  if (reduces(plan.call.kind) || plan.algorithm == Algorithm::nvls) {
    throw InfeasibleError(
        fmt::format("{}: copy engines copy and do not add, {} needs compute units (backend = \"cu\")",
                    plan.name, reduces(plan.call.kind) ? name_of(plan.call.kind) : name_of(plan.algorithm)));
  }
  return plan;
}

}  // namespace

DmaCollective::DmaCollective(Cluster& cluster, CollectivePlan plan)
    : CollectiveRun(cluster, only_copies(std::move(plan))) {
  const GpuSpec& gpu = cluster.spec().gpu;
  if (gpu.dma.engines < 1)
    throw InfeasibleError(fmt::format("{}: gpu '{}' has no copy engines", plan_.name, gpu.name));
  width_ = std::min(graph_.lanes, gpu.dma.engines);
  transfers_.assign(moves_.size(), kNoActivity);
  for (std::size_t i = 0; i < moves_.size(); ++i) {
    arrived_.push_back(std::make_unique<Event>(simulation_, plan_.name + " transfer"));
  }
}

void DmaCollective::start(int rank) {
  if (rank == simulated().front()) simulation_.spawn(plan_.name, run());
}

Task DmaCollective::run() {
  co_await all_joined();
  for (std::size_t i = 0; i < moves_.size(); ++i)
    simulation_.spawn(plan_.name, run_move(i), arrived_[i].get());
  for (const auto& arrived : arrived_)
    co_await *arrived;
  finish();
}

Task DmaCollective::run_move(std::size_t index) {
  const Move& move = moves_[index];
  for (const std::uint32_t before : move.after)
    co_await *arrived_[before];
  if (move.behind) co_await *arrived_[*move.behind];
  DmaCopy copy = command(move);
  co_await run_copy(simulation_, std::move(copy), &transfers_[index]);
  simulation_.add_dependency(transfers_[index], rank_activity(move.legs.front().src), DependencyKind::launch);
  for (const std::uint32_t before : move.after) {
    simulation_.add_dependency(transfers_[index], transfers_[before], DependencyKind::data);
  }
}

namespace {

/// An engine that serves several legs of a gang serves them one after another.
void add_use(DmaCopy& copy, DmaEngines& engines, int engine, Bytes bytes) {
  for (EngineUse& use : copy.uses) {
    if (use.engines != &engines || use.engine != engine) continue;
    use.bytes += bytes;
    ++use.legs;
    return;
  }
  copy.uses.push_back({&engines, engine, bytes, 1});
}

}  // namespace

DmaCopy DmaCollective::command(const Move& move) const {
  const Memory& memory = cluster_.gpu(move.legs.front().src).memory();
  DmaCopy copy;
  Bytes total;
  for (const Leg& leg : move.legs) {
    for (const Demand& demand : path(leg, Carriage{}))
      add_demand(copy.path, demand.resource, demand.amount);
    copy.latency = std::max(copy.latency, cluster_.interconnect().latency(leg.src, leg.dst));
    DmaEngines& engines = cluster_.gpu(leg.src).dma();
    add_use(copy, engines, leg.lane % width_, leg.bytes);
    total += leg.bytes;
  }
  const int most_legs = std::ranges::max(copy.uses, {}, &EngineUse::legs).legs;
  copy.commands = std::max(1, move.hops) * most_legs;
  const Bytes at_hbm = 2.0 * total;  // a read at the source, a write at the target
  const DmaSpec& dma = cluster_.spec().gpu.dma;
  const double alone = static_cast<double>(move.legs.size()) * dma.engine_bandwidth.value / total.value;
  copy.weight = memory.weight(dma.outstanding, static_cast<int>(move.legs.size()), at_hbm, alone);
  copy.info = transfer_info(move.legs.front(), ActivityKind::transfer);
  copy.info.bytes = total;
  copy.info.engine = move.legs.front().lane % width_;
  return copy;
}

}  // namespace c3
