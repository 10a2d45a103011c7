#include "collectives/library/channel_context.hpp"

namespace c3::inline collectives {

bool is_pairwise(CollectiveKind kind) { return sends_in_pairs(kind) && !is_rooted(kind); }

Seconds ChannelContext::steps(const PlannedFlow& flow) const {
  return costs.hop_latency * static_cast<double>(flow.hops) +
         network_hop() * static_cast<double>(flow.network_hops);
}

Seconds ChannelContext::network_hop() const { return behind_one_switch() + between_switches; }

// The library's latency is that of its steps over verbs, NICs and one switch included.
Seconds ChannelContext::behind_one_switch() const {
  if (!cluster.fabric || library().network_fabric == cluster.fabric->name) return costs.network_latency;
  const TransportSpec& transport = cluster.fabric->transport;
  if (protocol == Protocol::simple) return costs.network_latency + transport.slice_latency;
  const Bytes of_channel = std::ranges::max(longest) / std::max(1, width / graph.lanes) / costs.link_share;
  const double messages = of_channel > transport.eager_size ? 2.0 : 1.0;
  return std::max(costs.network_latency, transport.flag_latency * messages);
}

}  // namespace c3::collectives
