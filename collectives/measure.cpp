#include "collectives/measure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "collectives/group_runs.hpp"
#include "collectives/rank_conditions.hpp"
#include "engine/errors.hpp"

namespace c3 { inline namespace collectives {
namespace {

constexpr double kFull = 0.95;  // share of the time in which bytes move

/// Sums up how long every bandwidth would have been busy at its full capacity, and how long any was in use.
class BusyMeter final : public Observer {
 public:
  void resource_added(ResourceId id, const ResourceInfo& info, double capacity) override {
    resources_.resize(std::max<std::size_t>(resources_.size(), id + 1));
    Use& use = resources_[id];
    use.name = info.name;
    use.capacity = capacity;
    use.is_limit = info.unit == "B/s" && std::isfinite(capacity);
  }
  void capacity_changed(ResourceId id, Seconds at, double capacity) override {
    settle(resources_[id], at);
    resources_[id].capacity = capacity;
  }
  void utilisation(ResourceId id, Seconds at, double used) override {
    Use& use = resources_[id];
    settle(use, at);
    if (use.is_limit) count_moving(at, (used > 0.0 ? 1 : 0) - (use.used > 0.0 ? 1 : 0));
    use.used = used;
  }
  void activity_started(ActivityId, const ActivityInfo&, Seconds) override {}
  void activity_finished(ActivityId, Seconds) override {}
  void depends(ActivityId, ActivityId, DependencyKind) override {}
  void rate_changed(ActivityId, Seconds, double) override {}

  /// Time in which bytes moved. Valid when nothing moves any more.
  Seconds moving() const { return moving_; }
  /// Name of the busiest bandwidth, and how long it would have been busy at full capacity.
  std::pair<std::string, Seconds> busiest() const {
    const auto use = std::ranges::max_element(resources_, {}, &Use::busy);
    return {use->name, use->busy};
  }

 private:
  struct Use {
    std::string name;
    double capacity = 0.0, used = 0.0;
    Seconds since, busy;
    bool is_limit = false;
  };

  static void settle(Use& use, Seconds at) {
    if (use.is_limit && use.used > 0.0) use.busy += (at - use.since) * (use.used / use.capacity);
    use.since = at;
  }
  void count_moving(Seconds at, int change) {
    if (in_use_ > 0) moving_ += at - since_;
    since_ = at;
    in_use_ += change;
  }

  std::vector<Use> resources_;
  int in_use_ = 0;  ///< bandwidths
  Seconds since_, moving_;
};

std::string limit_of(const BusyMeter& meter, Seconds time, Backend backend) {
  if (meter.moving() < 0.5 * time) return "latency";
  auto [name, busy] = meter.busiest();
  if (busy >= kFull * meter.moving()) return name;
  return backend == Backend::cu ? "channels" : "engines";
}

CollectivePlan plan_of(const CollectiveCall& call, const MeasuredMethod& how, const ClusterSpec& spec) {
  CollectivePlan plan;
  plan.name = name_of(call.kind);
  plan.call = call;
  plan.backend = how.backend;
  plan.method = how.method;
  plan.grain = how.grain;
  plan.dma = how.dma;
  plan.range = {0, spec.gpu.compute.cus_per_xcd};
  return plan;
}

/// The host's time for one rank: one collective, or the sends and receives of a group.
Seconds host_time(const MeasuredMethod& how, const ClusterSpec& spec, const CollectiveCall& call) {
  const CollectiveLibrarySpec& library = spec.library;
  const bool in_pairs = how.method.algorithm == Algorithm::direct && sends_in_pairs(call.kind);
  if (!in_pairs) return library.host_launch;
  const bool one_peer = call.kind == CollectiveKind::send_receive;
  const int peers = one_peer ? 1 : member_count(call, spec.ranks()) - 1;
  const int operations = is_rooted(call.kind) ? peers : 2 * peers;  // the root has most
  return library.host_launch + library.group_operation * (operations - 1.0);
}

/// One of many back to back: a host is ahead of the GPUs unless it launches on all of a node's in turn.
Seconds as_launched(Seconds on_device, const MeasuredMethod& how, const ClusterSpec& spec,
                    const CollectiveCall& call) {
  if (how.backend != Backend::cu || how.launch == LaunchPath::graph) return on_device;
  const Seconds launched = on_device + spec.library.eager_gap;
  const Seconds of_rank = host_time(how, spec, call);
  if (how.launch == LaunchPath::eager) return std::max(launched, of_rank);
  const int launches = call.groups ? spec.ranks() : member_count(call, spec.ranks());
  return std::max(launched, of_rank * static_cast<double>(std::min(launches, spec.node.gpus)));
}

}  // namespace

CollectiveMeasurement measure_collective(const ClusterSpec& spec, const CollectiveCall& call,
                                         const MeasuredMethod& how) {
  BusyMeter meter;
  Simulation simulation(&meter);
  ClusterSetup setup;
  setup.gpu.streams = {std::string(name_of(call.kind))};
  setup.folded = is_symmetric(spec) && is_symmetric(call, how.method.algorithm, spec) &&
                 (how.backend == Backend::cu || is_symmetric(how.dma));
  Cluster cluster(simulation, spec, setup);
  const GroupRuns runs(cluster, call, {},
                       [&](const CollectiveCall& of_group) { return plan_of(of_group, how, spec); });
  const std::string name = fmt::format("{} on {}", name_of(call.kind), spec.name);
  for (int rank = 0; rank < cluster.simulated_ranks(); ++rank) {
    if (CollectiveRun* const run = runs.of(rank))
      simulation.spawn(name, run->join(rank, how.gap.value_or(spec.gpu.dispatch.dependent_gap), nullptr));
  }
  simulation.run();
  const Seconds time = as_launched(simulation.now(), how, spec, call);
  return {time, runs.all().front()->width(), limit_of(meter, simulation.now(), how.backend)};
}

std::optional<FastestMethod> fastest_of(const ClusterSpec& cluster, const CollectiveCall& call,
                                        MeasuredMethod how, std::span<const CollectiveMethod> methods) {
  std::optional<FastestMethod> fastest;
  for (const CollectiveMethod& method : methods) {
    how.method = method;
    try {
      const Seconds time = measure_collective(cluster, call, how).time;
      if (!fastest || time < fastest->time) fastest = FastestMethod{method, time};
    } catch (const InfeasibleError&) {
      continue;  // the library's formulas do not tell what its kernels cannot do
    }
  }
  return fastest;
}

}}  // namespace c3::collectives
