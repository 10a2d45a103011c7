#include "collectives/backends/cu/buffered_receive.hpp"

#include <algorithm>

namespace c3::inline collectives {

BufferedReceive::BufferedReceive(Cluster& cluster, CollectivePlan plan)
    : CollectiveRun(cluster, std::move(plan)),
      needs_{cluster.spec().library.channel_lds, cluster.spec().library.channel_registers,
             cluster.spec().library.waves_per_channel, /*computes=*/false},
      protocol_(cluster.spec(), plan_.call, plan_.method, graph_) {
  width_ = protocol_.width();
  for (const int rank : simulated())
    grids_.emplace_back(*this, rank);
  unplaced_ = width_ * static_cast<int>(grids_.size());
  wait_for("CU slots for the channels of " + plan_.name);
}

void BufferedReceive::start(int rank) {
  Grid& grid = grids_[index_of(rank)];
  cluster_.gpu(rank)
      .dispatcher(plan_.stream)
      .submit({&grid, needs_, width_, plan_.range, plan_.priority, plan_.order, plan_.draw});
}

void BufferedReceive::place(Grid& grid, int xcd, std::span<const int> cus) {
  for (const int cu : cus)
    grid.channels.emplace_back(xcd, cu);
  unplaced_ -= static_cast<int>(cus.size());
  if (unplaced_ == 0) simulation_.spawn(plan_.name, receive());
}

Task BufferedReceive::receive() {
  for (Grid& grid : grids_) {
    grid.holding = simulation_.begin_activity({.name = plan_.name,
                                               .kind = ActivityKind::channel,
                                               .gpu = grid.rank,
                                               .stream = plan_.stream,
                                               .parent = rank_activity(grid.rank),
                                               .work_groups = width_});
    simulation_.add_dependency(grid.holding, rank_activity(grid.rank), DependencyKind::launch);
  }
  wait_for("the end of " + plan_.name);
  BufferedMessage& message = *plan_.buffered;
  co_await simulation_.sleep(protocol_.setup());
  const LocalCopy copy = protocol_.copy_out();
  const Seconds begin = simulation_.now();
  Seconds last = protocol_.last_slices();
  if (message.has_come.is_set()) {
    std::vector<Demand> demands;
    for (const Grid& grid : grids_) {
      const Memory& memory = cluster_.gpu(grid.rank).memory();
      memory.add_hbm_read(demands, plan_.stream, copy.bytes);
      memory.add_hbm_write(demands, plan_.stream, copy.bytes);
    }
    const Memory& memory = cluster_.gpu(grids_.front().rank).memory();
    FlowSpec spec;
    spec.demands = demands;
    spec.bound = 1.0 / std::max(copy.time, last).value;
    spec.weight =
        memory.weight(cluster_.spec().library.channel_outstanding, width_, 2.0 * copy.bytes, spec.bound);
    spec.priority = memory.communication_class();
    spec.account = rank_activity(grids_.front().rank);
    if (copy.time.value > 0.0) {
      RunningFlow flow(simulation_, spec);
      co_await flow;
    }
  } else {
    co_await message.has_come;
    last = std::max(last, begin + copy.time - simulation_.now());
    co_await simulation_.sleep(last);
  }
  message.buffer.free(message);
  release();
  finish();
}

void BufferedReceive::release() {
  for (const Grid& grid : grids_) {
    simulation_.end_activity(grid.holding);
    for (const auto& [xcd, cu] : grid.channels)
      cluster_.gpu(grid.rank).dispatcher(plan_.stream).release(xcd, cu, needs_, grid.holding);
  }
}

}  // namespace c3::collectives
