#include "collectives/library/message_channels.hpp"

#include <algorithm>
#include <cmath>

#include "collectives/algorithms/algorithm.hpp"
#include "collectives/call.hpp"
#include "collectives/group_layout.hpp"
#include "collectives/library/channel_protocol.hpp"
#include "collectives/library/peer_channels.hpp"
#include "collectives/library/ring_search.hpp"

namespace c3 { inline namespace collectives {
namespace {

constexpr Bytes kChunkOverNvlink{512.0 * 1024.0};
constexpr Bytes kChunkElsewhere{128.0 * 1024.0};  // over PCIe or a network
constexpr int kOfPeerOverPcie = 2;

/// The places of members, and what joins those of a node.
struct Members {
  int count = 0;
  bool are_on_nodes = false;       ///< on several
  bool have_neighbours = false;    ///< some are on one node
  std::optional<FoundRings> pcie;  ///< rings of those
};

Members placed(const ClusterSpec& cluster, const std::vector<int>& members) {
  const GroupLayout layout = layout_of(members, cluster.node.gpus);
  const auto has_several = [](const std::vector<int>& ranks) { return ranks.size() > 1; };
  return {.count = static_cast<int>(members.size()),
          .are_on_nodes = layout.node_count() > 1,
          .have_neighbours = std::ranges::any_of(layout.nodes, has_several),
          .pcie = rings_over_pcie(cluster, members)};
}

/// All channels for sends and receives: those of the communicator's collectives, but a power of two.
int all_channels(const ClusterSpec& cluster, const std::vector<int>& members, const Members& group) {
  if (group.are_on_nodes) {
    const CollectiveCall sum{.kind = CollectiveKind::all_reduce, .bytes = Bytes{1.0}, .ranks = members};
    return power_of_two(channels_of(cluster, sum, Algorithm::ring));
  }
  if (group.pcie) return power_of_two(group.pcie->channels);
  const CollectiveCall exchange{.kind = CollectiveKind::all_to_all, .bytes = Bytes{1.0}, .ranks = members};
  return power_of_two(channels_of(cluster, exchange, Algorithm::direct));
}

}  // namespace

int MessageChannels::of(Bytes bytes) const {
  const double parts = std::clamp(std::ceil(bytes / least_part), 1.0, static_cast<double>(dealt));
  int channels = static_cast<int>(parts);
  while (bytes / static_cast<double>(channels) > most_part && channels <= most / 2)
    channels *= 2;
  return channels;
}

std::optional<MessageChannels> message_channels(const ClusterSpec& cluster, const std::vector<int>& members) {
  const CollectiveLibrarySpec& library = cluster.library;
  const bool is_known = library.rules == TunerRules::nccl && library.tuner_bandwidth.value > 0.0;
  const Members group = placed(cluster, members);
  const bool over_ports = group.pcie || cluster.node.topology == NodeTopology::switched;
  if (!is_known || (group.have_neighbours && !over_ports)) return std::nullopt;
  const int all = all_channels(cluster, members, group);
  int most = all;
  if (group.have_neighbours && group.pcie) most = std::min(most, kOfPeerOverPcie);
  if (group.are_on_nodes) most = std::min(most, network_peer_channels(cluster, group.count, all));
  int dealt = most;
  while (dealt * group.count > all && dealt > 1)
    dealt /= 2;
  const bool over_nvlink = !group.are_on_nodes && !group.pcie;
  const Bytes chunk = over_nvlink ? kChunkOverNvlink : kChunkElsewhere;
  return MessageChannels{.most = most,
                         .dealt = dealt,
                         .least_part = chunk * (group.are_on_nodes ? 1.0 / 2.0 : 1.0 / 8.0),
                         .most_part = chunk * (group.are_on_nodes ? 1.0 : 32.0)};
}

}}  // namespace c3::collectives
