#include "workloads/analysis/closed_form_times.hpp"

#include <algorithm>
#include <optional>

#include "collectives/library/tuner.hpp"
#include "engine/interrupt.hpp"
#include "gpu/kernel_time.hpp"
#include "gpu/kernels/describe.hpp"
#include "interconnect/spec.hpp"
#include "workloads/execute/collective_choice.hpp"
#include "workloads/execute/partition.hpp"

namespace c3::inline workloads {
namespace {

Seconds at_link_rate(const CollectiveCall& call, const ClusterSpec& cluster) {
  const std::vector<int> members = members_of(call, cluster.ranks());
  const Bytes traffic = least_traffic(call, members, cluster.node.switch_reduces);
  return traffic * (1.0 / static_cast<double>(members.size())) /
         rate_between(members.front(), members.back(), cluster);
}

}  // namespace

BytesPerSecond rate_between(int from, int to, const ClusterSpec& cluster) {
  const bool in_node = from / cluster.node.gpus == to / cluster.node.gpus;
  if (in_node || !cluster.fabric) return raw_egress(cluster.node);
  return cluster.fabric->nic.raw * (static_cast<double>(cluster.fabric->nics_per_node) / cluster.node.gpus);
}

Seconds ClosedFormTimes::of(const Operation& operation) {
  if (const auto* timed = std::get_if<TimedKernel>(&operation.work)) return timed->duration;
  if (const Operator* op = kernel_of(operation)) return of(*op);
  const auto* join = std::get_if<JoinCall>(&operation.work);
  if (join == nullptr) return {};
  const Call& call = program_.calls[join->call];
  if (call.is_timed) return operation.recorded ? operation.recorded->lasts : Seconds{};
  return of(call);
}

Seconds ClosedFormTimes::of(const Operator& op) {
  const auto known = std::ranges::find(kernels_, op, &TimedOperator::op);
  if (known != kernels_.end()) return known->time;
  checkpoint();
  const Seconds launch = cluster_.gpu.dispatch.launch_latency;
  const Seconds alone = time_of(op, cluster_.gpu, {.launch = LaunchCost::device}).time - launch;
  kernels_.push_back({op, alone});
  return alone;
}

Seconds ClosedFormTimes::of(const Call& call) {
  const auto known = std::ranges::find_if(
      calls_, [&](const TimedCall& its) { return its.stream == call.stream && its.call == call.what; });
  if (known != calls_.end()) return known->time;
  checkpoint();
  const CollectiveMethod method =
      strategy_ == nullptr
          ? choose_method(call.what, cluster_, {})
          : method_of(call.what, policy_of(*strategy_, program_.streams[call.stream]), cluster_);
  const std::optional<Seconds> expected = expected_time(call.what, method.algorithm, method.protocol, cluster_);
  const Seconds alone = expected ? *expected : at_link_rate(call.what, cluster_);
  calls_.push_back({call.what, call.stream, alone});
  return alone;
}

}  // namespace c3::workloads
