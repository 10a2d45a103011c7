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

namespace c3 { inline namespace workloads {
namespace {

/// Of the members of a group, how many share the first one's node.
int members_in_node(const std::vector<int>& members, const ClusterSpec& cluster) {
  const int node = members.front() / cluster.node.gpus;
  return static_cast<int>(
      std::ranges::count_if(members, [&](int rank) { return rank / cluster.node.gpus == node; }));
}

/// What each of \p members sends at least.
Bytes sent_by_each(const CollectiveCall& call, const std::vector<int>& members, const ClusterSpec& cluster) {
  return least_traffic(call, members, cluster.node.switch_reduces) *
         (1.0 / static_cast<double>(members.size()));
}

/// \p bytes on as many channels as a user allows; 0 where all of the library's are.
Seconds on_channels(Bytes bytes, const ChannelLimits& limits, const ClusterSpec& cluster) {
  if (limits.most == 0) return {};
  return bytes / (static_cast<double>(limits.most) * cluster.library.simple.channel_rate);
}

}  // namespace

BytesPerSecond rate_in_node(int peers, const ClusterSpec& cluster) {
  const LinkSpec& link = cluster.node.link;
  const BytesPerSecond payload =
      cluster.library.link_payload.value > 0.0 ? cluster.library.link_payload : link.both_ways;
  if (cluster.node.topology == NodeTopology::full_mesh) return static_cast<double>(peers) * payload;
  return raw_egress(cluster.node) * (payload / link.raw);
}

BytesPerSecond rate_between_nodes(const ClusterSpec& cluster) {
  return cluster.fabric->nic.both_ways *
         (static_cast<double>(cluster.fabric->nics_per_node) / cluster.node.gpus);
}

Seconds time_at_rates(const CollectiveCall& call, const ClusterSpec& cluster) {
  const std::vector<int> members = members_of(call, cluster.ranks());
  const auto count = static_cast<double>(members.size());
  const int in_node = members_in_node(members, cluster);
  const Bytes sent = sent_by_each(call, members, cluster);
  const bool in_pairs = sends_in_pairs(call.kind);
  const double stays = in_pairs && count > 1.0 ? (in_node - 1.0) / (count - 1.0) : 1.0;
  Seconds time;
  if (in_node > 1) time = stays * sent / rate_in_node(in_node - 1, cluster);
  if (in_node < static_cast<int>(members.size()) && cluster.fabric) {
    const Seconds leaving = (in_pairs ? 1.0 - stays : 1.0 / in_node) * sent / rate_between_nodes(cluster);
    time = std::max(time, leaving);
  }
  return time;
}

Seconds ClosedFormTimes::of(const Operation& operation) {
  if (const auto* timed = std::get_if<TimedKernel>(&operation.work)) return timed->duration;
  if (const Operator* op = kernel_of(operation)) return of(*op);
  if (const auto* copy = std::get_if<HostCopy>(&operation.work)) return of(*copy);
  const auto* join = std::get_if<JoinCall>(&operation.work);
  if (join == nullptr) return {};
  const Call& call = program_.calls[join->call];
  if (call.is_timed) return operation.recorded ? operation.recorded->lasts : Seconds{};
  return of(call);
}

Seconds ClosedFormTimes::of(const HostCopy& copy) const {
  const NodeSpec& node = cluster_.node;
  BytesPerSecond rate = node.c2c.raw.value > 0.0 ? node.c2c.one_way : node.pcie.one_way;
  if (copy.way == HostWay::within) rate = node.host.memory * (1.0 / node.gpus);
  if (copy.most.value > 0.0) rate = rate.value > 0.0 ? std::min(rate, copy.most) : copy.most;
  return rate.value > 0.0 ? copy.bytes / rate : Seconds{};
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
  const Seconds time = alone(call);
  calls_.push_back({call.what, call.stream, time});
  return time;
}

Seconds ClosedFormTimes::alone(const Call& call) const {
  const StreamPolicy policy =
      strategy_ == nullptr ? StreamPolicy{} : policy_of(*strategy_, program_.streams[call.stream]);
  if (backend_of(call.what, policy, cluster_) != Backend::cu) return time_at_rates(call.what, cluster_);
  const std::vector<int> members = members_of(call.what, cluster_.ranks());
  const Seconds least =
      on_channels(sent_by_each(call.what, members, cluster_), policy.method.channels, cluster_);
  const CollectiveMethod method = method_of(call.what, policy, cluster_);
  const bool by_formula = cluster_.library.rules == TunerRules::nccl;
  const std::optional<Seconds> expected =
      by_formula ? expected_time(call.what, method.algorithm, method.protocol, cluster_) : std::nullopt;
  return std::max(least, expected ? *expected : time_at_rates(call.what, cluster_));
}

}}  // namespace c3::workloads
