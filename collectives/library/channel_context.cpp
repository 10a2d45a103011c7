#include "collectives/library/channel_context.hpp"

namespace c3 { inline namespace collectives {

bool is_pairwise(CollectiveKind kind) { return sends_in_pairs(kind) && !is_rooted(kind); }

// A step's latency contains the first round of polls, which its bytes take, too.
Seconds ChannelContext::steps(const PlannedFlow& flow) const {
  const Seconds counted = in_first_round();
  const auto beyond = [&](Seconds hop) { return std::max(Seconds{}, hop - counted); };
  return beyond(node_hop()) * static_cast<double>(flow.hops) +
         beyond(network_hop()) * static_cast<double>(flow.network_hops);
}

// Applies to network buffers as well, because the host's proxy polls the flags (NCCL 2.30.7,
// src/transport/net.cc). The latency of host memory is one and a half round trips; a line that waits takes one.
std::optional<ChannelContext::PollRound> ChannelContext::poll_round() const {
  const HostPathSpec& host = cluster.node.host;
  const bool polls = protocol == Protocol::ll && !host.sockets.empty() &&
                     (nodes > 1 || through_host > 0.0 || through_network > 0.0);
  if (!polls) return std::nullopt;
  constexpr Bytes kOfLine{8.0};
  constexpr double kRoundTrip = 1.0 / 1.5;
  return PollRound{.bytes = kOfLine * static_cast<double>(costs.threads),
                   .time = costs.hop_latency + host.latency * kRoundTrip};
}

Seconds ChannelContext::in_first_round() const {
  const std::optional<PollRound> round = poll_round();
  if (!round) return {};
  return round->time * std::min(1.0, longest_of_channel() / round->bytes);
}

Bytes ChannelContext::longest_of_channel() const {
  return std::ranges::max(longest) / static_cast<double>(std::max(1, width / graph.lanes));
}

// Edges of a ring take turns, so that the longest way through them pays their mean.
Seconds ChannelContext::node_hop() const {
  Seconds hop = costs.hop_latency + cluster.node.host.latency * through_host;
  if (through_network > 0.0) hop += (network_hop() - costs.hop_latency) * through_network;
  return hop;
}

Seconds ChannelContext::network_hop() const { return behind_one_switch() + between_switches; }

// The library's latency is that of its steps over verbs, NICs and one switch included.
Seconds ChannelContext::behind_one_switch() const {
  if (!cluster.fabric || library().network_fabric == cluster.fabric->name) return costs.network_latency;
  const TransportSpec& transport = cluster.fabric->transport;
  if (protocol == Protocol::simple) return costs.network_latency + transport.slice_latency;
  const double messages = longest_of_channel() / costs.link_share > transport.eager_size ? 2.0 : 1.0;
  return std::max(costs.network_latency, transport.flag_latency * messages);
}

}}  // namespace c3::collectives
