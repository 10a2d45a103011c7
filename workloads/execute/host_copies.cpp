#include "workloads/execute/host_copies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "engine/errors.hpp"

namespace c3 { inline namespace workloads {
namespace {

EdgeKind edge_of(HostWay way) {
  switch (way) {
    case HostWay::to_host:
      return EdgeKind::to_host;
    case HostWay::from_host:
      return EdgeKind::from_host;
    case HostWay::within:
      break;
  }
  return EdgeKind::within_host;
}

/// What a copy has in flight at HBM. Reads keep the link busy as long as HBM answers as fast as when idle, by
/// Little's law; writes are posted, as kernels' stores are, and queue like all of what HBM can have in flight.
Bytes in_flight(HostWay way, BytesPerSecond rate, const HbmSpec& hbm) {
  return (way == HostWay::to_host ? rate : hbm.write) * hbm.latency;
}

}  // namespace

HostCopies::HostCopies(Cluster& cluster, const Program& program) : cluster_(cluster) {
  if (!cluster.setup().reaches_hosts) return;
  for_each_operation(program, [&](const Operation& operation) {
    const auto* copy = std::get_if<HostCopy>(&operation.work);
    if (copy != nullptr && copy->way == HostWay::within && !cluster.interconnect().knows_host_memory())
      throw InfeasibleError(fmt::format(
          "node '{}' does not say what the memory of its host reads and writes (host_memory), which "
          "'{}' needs",
          cluster.spec().node.name, program.name_of(operation)));
  });
  if (cluster.setup().classes) add_edges(program);
}

void HostCopies::add_edges(const Program& program) {
  const RankPartition& classes = *cluster_.setup().classes;
  std::map<std::pair<int, HostWay>, Bytes> bytes;
  for (int number = 0; number < classes.classes(); ++number) {
    for_each_operation(program.script_of(classes.representative(number)), [&](const Operation& operation) {
      if (const auto* copy = std::get_if<HostCopy>(&operation.work)) bytes[{number, copy->way}] += copy->bytes;
    });
  }
  for (const auto& [key, sum] : bytes) {
    std::vector<Edge> edges;
    for (int rank = 0; rank < classes.ranks(); ++rank) {
      if (classes.class_of(rank) == key.first)
        edges.push_back({.kind = edge_of(key.second), .src = rank, .dst = rank});
    }
    sets_[key] = cluster_.add_edges(std::move(edges), sum);
    calls_.push_back(cluster_.end_call());
  }
}

double HostCopies::inequity() const {
  double greatest = 0.0;
  for (const std::size_t call : calls_)
    greatest = std::max(greatest, cluster_.interconnect().inequity_of(call));
  return greatest;
}

void HostCopies::add_demands(std::vector<Demand>& demands, HostCopy copy, const Launch& launch) const {
  const Memory& memory = cluster_.gpu(launch.rank).memory();
  if (copy.way == HostWay::to_host) memory.add_hbm_read(demands, launch.stream, copy.bytes);
  if (copy.way == HostWay::from_host) memory.add_hbm_write(demands, launch.stream, copy.bytes);
  const Interconnect& links = cluster_.interconnect();
  if (const auto& classes = cluster_.setup().classes) {
    const EdgeSetId set = sets_.at({classes->class_of(launch.rank), copy.way});
    links.add_set(demands, launch.stream, set, copy.bytes, /*messages=*/1.0);
  } else {
    links.add_host(demands, launch.stream, edge_of(copy.way), launch.rank, copy.bytes);
  }
}

Seconds HostCopies::latency(HostWay way, int rank) const {
  if (way == HostWay::within) return {};
  const DmaSpec& engine = cluster_.spec().gpu.dma;
  return engine.schedule + engine.copy_latency + cluster_.interconnect().host_latency(rank) + engine.sync;
}

Task HostCopies::run(HostCopy copy, Launch launch) const {
  Simulation& simulation = cluster_.simulation();
  const ActivityId activity = simulation.begin_activity({.name = launch.name,
                                                         .kind = ActivityKind::collective,
                                                         .gpu = launch.rank,
                                                         .stream = launch.stream,
                                                         .parent = launch.parent,
                                                         .bytes = copy.bytes});
  *launch.activity = activity;
  co_await simulation.sleep(launch.delay + latency(copy.way, launch.rank));
  std::vector<Demand> demands;
  add_demands(demands, copy, launch);
  const Memory& memory = cluster_.gpu(launch.rank).memory();
  FlowSpec spec;
  spec.demands = demands;
  spec.activity = activity;
  if (copy.way != HostWay::within) {
    BytesPerSecond rate = cluster_.interconnect().host_rate(launch.rank);
    if (copy.most > BytesPerSecond{}) {
      rate = std::min(rate, copy.most);
      spec.bound = 1.0 / (copy.bytes / copy.most).value;
    }
    const Bytes outstanding = in_flight(copy.way, rate, cluster_.spec().gpu.hbm);
    spec.weight = memory.weight(outstanding, 1, copy.bytes, 1.0 / (copy.bytes / rate).value);
    spec.priority = memory.communication_class();
  }
  RunningFlow flow(simulation, spec);
  co_await flow;
  simulation.end_activity(activity);
}

}}  // namespace c3::workloads
