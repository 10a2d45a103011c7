#include "collectives/library/peer_channels.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace c3 { inline namespace collectives {
namespace {

constexpr int kLeast = 2;
constexpr LibraryVersion kFirstByRate{2, 29, 2};
constexpr BytesPerSecond kOfChannel{14e9};
constexpr int kOnChannel = 8;        // peers that a channel may serve
constexpr int kOnChannelBefore = 4;  // the same before kFirstByRate

int nics_of_gpu(const ClusterSpec& cluster) {
  return std::max(1, cluster.fabric->nics_per_node / cluster.node.gpus);
}

bool goes_by_rate(const CollectiveLibrarySpec& library) {
  return library.rules == TunerRules::nccl && library.version >= kFirstByRate;
}

}  // namespace

int power_of_two(int count) { return static_cast<int>(std::bit_ceil(static_cast<unsigned>(count))); }

int network_peer_channels(const ClusterSpec& cluster) {
  const CollectiveLibrarySpec& library = cluster.library;
  if (library.net_peer_channels > 0) return power_of_two(library.net_peer_channels);
  const int nics = nics_of_gpu(cluster);
  int channels = std::max(kLeast, nics);
  if (goes_by_rate(library)) {
    const double by_rate = std::ceil(nics * cluster.fabric->nic.raw.value / kOfChannel.value);
    channels = std::max(channels, static_cast<int>(by_rate));
  }
  return power_of_two(channels);
}

int network_peer_channels(const ClusterSpec& cluster, int ranks, int all) {
  const CollectiveLibrarySpec& library = cluster.library;
  int channels = network_peer_channels(cluster);
  if (library.net_peer_channels > 0) return std::min(channels, all);
  if (goes_by_rate(library)) {
    const int rounds = (ranks + kOnChannel - 1) / kOnChannel;
    while (channels * rounds > all && channels > 1)
      channels /= 2;
    return channels;
  }
  const bool fits = kLeast * ranks <= kOnChannelBefore * all;
  return fits ? channels : power_of_two(nics_of_gpu(cluster));
}

}}  // namespace c3::collectives
