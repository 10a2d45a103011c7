#include "collectives/library/topology_search.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace c3 { inline namespace collectives {
namespace {

// Speeds that the search tries, GB/s a channel: within a node, and where nodes are joined.
constexpr std::array kWithin{40.0, 30.0, 20.0, 18.0, 15.0, 12.0, 10.0, 9.0, 7.0, 6.0, 5.0, 4.0, 3.0};
constexpr std::array kBetween{48.0, 30.0, 28.0, 24.0, 20.0, 18.0, 15.0, 12.0, 10.0, 9.0,
                              7.0,  6.0,  5.0,  4.0,  3.0,  2.4,  1.2,  0.24, 0.12};
constexpr std::array kHopperWithin{60.0, 50.0, 40.0, 30.0, 24.0, 20.0, 15.0, 12.0, 11.0, 6.0, 3.0};
constexpr std::array kHopperBetween{48.0, 45.0, 42.0, 40.0, 30.0, 24.0, 22.0, 20.0, 17.5,
                                    15.0, 12.0, 6.0,  3.0,  2.4,  1.2,  0.24, 0.12};
constexpr std::array kBlackwellWithin{90.0, 80.0, 70.0, 60.0, 50.0, 45.0, 40.0, 30.0, 24.0, 20.0, 19.0, 18.0};
constexpr std::array kBlackwellWithin27{90.0, 80.0, 70.0, 60.0, 50.0, 40.0, 30.0, 24.0, 20.0, 19.0, 18.0};
constexpr std::array kBlackwellBetween{96.0, 86.0, 80.0, 48.0, 45.1, 42.0, 40.0, 30.0, 24.0, 22.0,
                                       20.0, 17.5, 15.0, 12.0, 6.0,  3.0,  2.4,  1.2,  0.24, 0.12};
constexpr std::array kBlackwellBetween28{96.0, 48.0, 45.1, 42.0, 40.0, 30.0, 24.0, 22.0, 20.0,
                                         17.5, 15.0, 12.0, 6.0,  3.0,  2.4,  1.2,  0.24, 0.12};
constexpr std::array kBlackwellBetween27{47.9, 45.0, 42.0, 40.0, 30.0, 24.0, 22.0, 20.0, 17.5,
                                         15.0, 12.0, 6.0,  3.0,  2.4,  1.2,  0.24, 0.12};

constexpr int kMostChannels = 64;              // channels of a kernel
constexpr int kMostFound = kMostChannels / 2;  // rings are duplicated later
constexpr int kMostHeads = 32;                 // GPUs that pull from the switch
constexpr int kMostCollnetHeads = 8;           // direct within a node
constexpr double kSlack = 1e-6;                // rounding of a sum of decimals

bool is_hopper_or_newer(TunedGpu gpu) { return gpu == TunedGpu::hopper || gpu == TunedGpu::blackwell; }

std::span<const double> speeds_of(const SearchedNode& node) {
  return searched_speeds(node.gpu, node.version, node.nics == 0);
}

int whole(double parts) { return static_cast<int>(std::floor(parts + kSlack)); }

/// Channels of one speed that the NICs carry.
int over_nics(const SearchedNode& node, double speed) {
  return node.nics == 0 ? kMostChannels : node.nics * whole(node.nic / speed);
}

/// Rings or chains that go through all GPUs. On a ring every GPU sends, over nodes too: its last GPU reaches
/// the NIC of its first one over NVLink (PXN). On a chain the last GPU sends to nobody, and each chain has
/// another last GPU.
int through_gpus(const SearchedNode& node, double speed, bool closes) {
  if (node.gpus == 1) return kMostChannels;
  const double send = closes ? 1.0 : (node.gpus - 1.0) / node.gpus;
  return whole(node.port / (speed * send));
}

/// Heads for which each GPU receives one share, and a head two.
int heads_at(const SearchedNode& node, double speed) { return whole(node.port / speed) - 1; }

/// The first speed that a single channel can have.
std::size_t first_of(std::span<const double> speeds, double most) {
  std::size_t at = 0;
  while (at + 1 < speeds.size() && speeds[at] > most + kSlack)
    ++at;
  return at;
}

double most_of(const SearchedNode& node) { return node.nics > 0 ? node.nic : node.port; }

/// Calls \p channels_at(speed) from fast to slow and keeps what \p is_better than the best so far. The search
/// ends when the GPUs' links are full, or when the next speed is less than half of the best.
template <class ChannelsAt, class IsBetter>
SearchedGraph best_of(const SearchedNode& node, const ChannelsAt& channels_at, const IsBetter& is_better,
                      int enough) {
  const auto speeds = speeds_of(node);
  SearchedGraph best;
  for (std::size_t at = first_of(speeds, most_of(node)); at < speeds.size(); ++at) {
    if (best.channels > 0 && speeds[at] / best.inter <= 0.49) break;
    const SearchedGraph found{std::min(channels_at(speeds[at]), enough), speeds[at], speeds[at]};
    if (found.channels > 0 && is_better(found, best)) best = found;
    if (best.channels == enough || best.channels * best.inter >= node.port - kSlack) break;
  }
  return best;
}

bool has_more_bandwidth(const SearchedGraph& found, const SearchedGraph& best) {
  return found.channels * found.intra > best.channels * best.intra + kSlack;
}

/// ncclTopoDupChannels: fast channels are two of half the speed.
SearchedGraph duplicated(const SearchedGraph& graph, TunedGpu gpu) {
  const bool slow = graph.intra < 25.0 || (is_hopper_or_newer(gpu) && graph.intra < 50.0 && graph.channels > 4);
  const int channels = std::min(2 * graph.channels, kMostFound);
  if (slow || channels <= graph.channels) return graph;
  return {channels, graph.intra / 2, graph.inter / 2};
}

SearchedGraph ring_of(const SearchedNode& node) {
  const auto channels_at = [&](double speed) {
    return std::min(over_nics(node, speed), through_gpus(node, speed, /*closes=*/true));
  };
  SearchedGraph ring = duplicated(best_of(node, channels_at, has_more_bandwidth, kMostFound), node.gpu);
  const auto speeds = speeds_of(node);  // does a higher speed allow as many channels?
  for (std::size_t at = first_of(speeds, ring.inter); at-- > 0;) {
    if (speeds[at] > most_of(node) + kSlack) break;
    if (std::min(channels_at(speeds[at]), kMostFound) >= ring.channels) ring.intra = ring.inter = speeds[at];
  }
  return ring;
}

/// Takes as many channels as \p ring, then more speed within the node, up to twice that between nodes.
SearchedGraph tree_of(const SearchedNode& node, const SearchedGraph& ring) {
  const auto fits = [&](double speed) { return through_gpus(node, speed, /*closes=*/false) >= ring.channels; };
  const auto speeds = speeds_of(node);
  std::size_t at = first_of(speeds, most_of(node));
  while (at + 1 < speeds.size() && !(fits(speeds[at]) && over_nics(node, speeds[at]) >= ring.channels))
    ++at;
  SearchedGraph tree{ring.channels, speeds[at], speeds[at]};
  while (at > 0 && tree.intra < 2 * tree.inter && fits(speeds[at - 1]))
    tree.intra = speeds[--at];
  return tree;
}

SearchedGraph nvls_of(const SearchedNode& node) {
  if (!node.has_switch || !is_hopper_or_newer(node.gpu) || node.gpus <= 2) return {};
  int heads = std::min(kMostHeads, node.gpus);
  if (node.nics > 0) heads = std::min(heads, node.nics);
  const auto speeds = speeds_of(node);
  const auto enough_at = [&](double speed) {  // a node alone pulls from all GPUs alike
    const int found = std::min(heads_at(node, speed), heads);
    return node.nics > 0 || found == heads ? found : 0;
  };
  const auto has_more = [](const SearchedGraph& found, const SearchedGraph& best) {
    return found.channels > best.channels || found.channels * found.inter > best.channels * best.inter + kSlack;
  };
  SearchedGraph nvls = best_of(node, enough_at, has_more, heads);
  // More speed between nodes, up to twice that within; a node alone has no NICs that would limit it.
  for (std::size_t at = first_of(speeds, nvls.inter); nvls.channels > 0 && at-- > 0;) {
    if (over_nics(node, speeds[at]) < nvls.channels || nvls.inter >= 2 * nvls.intra) break;
    nvls.inter = speeds[at];
  }
  return nvls;
}

/// A channel uses a GPU's links twice, however many peers it has; the NICs decide, then the links are sped up.
SearchedGraph collnet_of(const SearchedNode& node) {
  if (!node.nics_reduce || node.gpus < 2) return {};
  const int heads = std::min({kMostCollnetHeads, node.gpus, node.nics});
  const auto speeds = speeds_of(node);
  std::size_t at = first_of(speeds, node.nic);
  SearchedGraph graph{heads, speeds[at], speeds[at]};
  while (at > 0 && graph.intra < 2 * graph.inter && 2 * speeds[at - 1] <= node.port + kSlack)
    graph.intra = speeds[--at];
  return graph;
}

/// ncclTopoPostset, of rings that are duplicated already.
int after_set_up(const SearchedGraph& ring, TunedGpu gpu, bool over_nodes) {
  const int channels = std::min(kMostChannels, 2 * ring.channels);
  const bool doubles = is_hopper_or_newer(gpu) && over_nodes && ring.intra > 45.0 && channels < 16;
  return doubles ? 2 * channels : channels;
}

}  // namespace

std::span<const double> searched_speeds(TunedGpu gpu, const LibraryVersion& version, bool alone) {
  if (gpu == TunedGpu::blackwell && version >= LibraryVersion{2, 25, 0}) {
    if (alone && version >= LibraryVersion{2, 28, 9}) return kBlackwellWithin;
    if (alone) return kBlackwellWithin27;
    if (version >= LibraryVersion{2, 30, 0}) return kBlackwellBetween;
    if (version >= LibraryVersion{2, 28, 0}) return kBlackwellBetween28;
    if (version >= LibraryVersion{2, 27, 0}) return kBlackwellBetween27;
    return kHopperBetween;
  }
  if (is_hopper_or_newer(gpu))
    return alone ? std::span<const double>(kHopperWithin) : std::span<const double>(kHopperBetween);
  return alone ? std::span<const double>(kWithin) : std::span<const double>(kBetween);
}

int kernel_channels(const SearchedGraph& found, TunedGpu gpu, bool over_nodes) {
  return after_set_up(duplicated(found, gpu), gpu, over_nodes);
}

SearchedGraphs search_topology(const SearchedNode& node) {
  const SearchedGraph ring = ring_of(node);
  const int channels = after_set_up(ring, node.gpu, node.nics > 0);
  return {ring, tree_of(node, ring), nvls_of(node), collnet_of(node), channels};
}

}}  // namespace c3::collectives
