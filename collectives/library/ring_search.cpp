#include "collectives/library/ring_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "collectives/group_layout.hpp"
#include "collectives/library/topology_search.hpp"
#include "interconnect/host_paths.hpp"
#include "interconnect/interconnect.hpp"

namespace c3 { inline namespace collectives {
namespace {

constexpr double kGiga = 1e9;

/// The speed when the search finds nothing: one ring in the order of the ranks.
constexpr double kNothingFound = 0.1;

/// The narrowest part of PCIe on a ring through \p gpus of one node, as the library takes it; infinite where
/// the ring has none.
BytesPerSecond narrowest(const NodeSpec& node, const std::vector<int>& gpus) {
  BytesPerSecond least{std::numeric_limits<double>::infinity()};
  const HostPaths paths(node);
  const std::vector<int> ring = disjoint_rings(node, gpus).front();
  for (std::size_t at = 0; at < ring.size(); ++at) {
    const std::vector<Hop>& hops = paths.wiring().route(ring[at], ring[(at + 1) % ring.size()]);
    if (hops.size() < 2) continue;  // a wire of their own
    const bool leaves = paths.between(ring[at], ring[(at + 1) % ring.size()]) == GpuPath::network;
    for (const Hop& hop : hops) {
      const Wire& wire = node.wires[static_cast<std::size_t>(hop.wire)];
      const bool joins_sockets = paths.is_socket(wire.a) && paths.is_socket(wire.b);
      if (joins_sockets && leaves) continue;  // the way leads over NICs
      least = std::min(least, joins_sockets ? node.host.between : link_of(node, wire).raw * kSearchedPcie);
    }
  }
  return least;
}

}  // namespace

bool goes_over_pcie(const ClusterSpec& cluster) {
  return cluster.node.topology == NodeTopology::wired && !cluster.library.ll128 &&
         cluster.library.rules == TunerRules::nccl;
}

std::optional<FoundRings> rings_over_pcie(const ClusterSpec& cluster, const std::vector<int>& members) {
  const NodeSpec& node = cluster.node;
  if (cluster.library.rules != TunerRules::nccl || node.host.sockets.empty()) return std::nullopt;
  const GroupLayout layout = layout_of(members, node.gpus);
  BytesPerSecond least{std::numeric_limits<double>::infinity()};
  for (const std::vector<int>& ranks : layout.nodes) {
    std::vector<int> gpus;
    for (const int rank : ranks)
      gpus.push_back(rank % node.gpus);
    if (gpus.size() > 1) least = std::min(least, narrowest(node, gpus));
  }
  if (!std::isfinite(least.value)) return std::nullopt;
  const TunedGpu gpu = cluster.gpu.family.tuned_as;
  double most = least.value / kGiga;
  int nics = 1;
  if (layout.node_count() > 1) {
    constexpr double kOf100GbPerSecond = 12.0 / 12.5;
    most = std::min(most, cluster.fabric->nic.raw.value * kOf100GbPerSecond / kGiga);
    nics = cluster.fabric->nics_per_node;
  }
  constexpr double kRounding = 1.001;
  const std::span<const double> speeds =
      searched_speeds(gpu, cluster.library.version, layout.node_count() == 1);
  const auto found = std::ranges::find_if(speeds, [&](double speed) { return speed <= most * kRounding; });
  if (found == speeds.end()) return FoundRings{.rings = 1, .speed = {kNothingFound * kGiga}, .channels = 2};
  const int fit = static_cast<int>(least.value / kGiga * kRounding / *found);
  const int rings = std::clamp(fit, 1, nics);
  return FoundRings{.rings = rings,
                    .speed = {*found * kGiga},
                    .channels = kernel_channels({rings, *found, *found}, gpu, layout.node_count() > 1)};
}

CollectiveLibrarySpec library_among(const ClusterSpec& cluster, const std::vector<int>& members) {
  constexpr int kOfPeer = 2;  // channels of a peer over PCIe
  CollectiveLibrarySpec library = cluster.library;
  const std::optional<FoundRings> found = rings_over_pcie(cluster, members);
  if (!found) return library;
  library.channels = found->channels;
  library.tuner_bandwidth = found->bandwidth();
  const int peers = static_cast<int>(members.size()) - 1;
  library.p2p_channels = std::min(std::max(1, library.p2p_channels), kOfPeer * peers);
  return library;
}

}}  // namespace c3::collectives
