#include "collectives/backends/cu/buffered_receive.hpp"

#include <algorithm>

namespace c3 { inline namespace collectives {

BufferedReceive::BufferedReceive(Cluster& cluster, CollectivePlan plan)
    : CollectiveRun(cluster, std::move(plan)),
      rank_(simulated().front()),
      needs_{cluster.spec().library.channel_lds, cluster.spec().library.channel_registers,
             cluster.spec().library.waves_per_channel, /*computes=*/false},
      protocol_(cluster.spec(), plan_.call, plan_.method, graph_) {
  width_ = protocol_.width();
  wait_for("CU slots for the channels of " + plan_.name);
}

void BufferedReceive::start(int rank) {
  cluster_.gpu(rank)
      .dispatcher(plan_.stream)
      .submit({this, needs_, width_, plan_.range, plan_.priority, plan_.order, plan_.draw});
}

void BufferedReceive::on_placed(int xcd, std::span<const int> cus) {
  for (const int cu : cus)
    channels_.emplace_back(xcd, cu);
  if (static_cast<int>(channels_.size()) == width_) simulation_.spawn(plan_.name, receive());
}

Task BufferedReceive::receive() {
  holding_ = simulation_.begin_activity({.name = plan_.name,
                                         .kind = ActivityKind::channel,
                                         .gpu = rank_,
                                         .stream = plan_.stream,
                                         .parent = rank_activity(rank_),
                                         .work_groups = width_});
  simulation_.add_dependency(holding_, rank_activity(rank_), DependencyKind::launch);
  wait_for("the end of " + plan_.name);
  BufferedMessage& message = *plan_.buffered;
  co_await simulation_.sleep(protocol_.setup());
  const LocalCopy copy = protocol_.copy_out();
  const Seconds begin = simulation_.now();
  const Seconds last = protocol_.last_slices();
  if (!message.has_come.is_set()) {
    co_await message.has_come;
    const Seconds rest = std::max(last, begin + copy.time - simulation_.now());
    co_await simulation_.sleep(rest);
  } else if (copy.time.value > 0.0) {
    std::vector<Demand> demands;
    const FlowSpec spec = copy_flow(copy, last, demands);
    RunningFlow flow(simulation_, spec);
    co_await flow;
  }
  message.buffer.free(message);
  release();
  finish();
}

FlowSpec BufferedReceive::copy_flow(const LocalCopy& copy, Seconds last, std::vector<Demand>& demands) const {
  const Memory& memory = cluster_.gpu(rank_).memory();
  memory.add_hbm_read(demands, plan_.stream, copy.bytes);
  memory.add_hbm_write(demands, plan_.stream, copy.bytes);
  FlowSpec spec;
  spec.demands = demands;
  spec.bound = 1.0 / std::max(copy.time, last).value;
  spec.weight =
      memory.weight(cluster_.spec().library.channel_outstanding, width_, 2.0 * copy.bytes, spec.bound);
  spec.priority = memory.communication_class();
  spec.account = rank_activity(rank_);
  return spec;
}

void BufferedReceive::release() {
  simulation_.end_activity(holding_);
  for (const auto& [xcd, cu] : channels_)
    cluster_.gpu(rank_).dispatcher(plan_.stream).release(*this, xcd, cu, needs_, holding_);
}

}}  // namespace c3::collectives
