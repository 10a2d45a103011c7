#include "collectives/library/peer_channels.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace c3::inline collectives {
namespace {

constexpr int kLeast = 2;
constexpr LibraryVersion kFirstByRate{2, 29, 2};
constexpr BytesPerSecond kOfChannel{14e9};

}  // namespace

int network_peer_channels(const ClusterSpec& cluster) {
  const FabricSpec& fabric = *cluster.fabric;
  const int nics = std::max(1, fabric.nics_per_node / cluster.node.gpus);
  int channels = std::max(kLeast, nics);
  const CollectiveLibrarySpec& library = cluster.library;
  if (library.rules == TunerRules::nccl && library.version >= kFirstByRate) {
    const double by_rate = std::ceil(nics * fabric.nic.raw.value / kOfChannel.value);
    channels = std::max(channels, static_cast<int>(by_rate));
  }
  return static_cast<int>(std::bit_ceil(static_cast<unsigned>(channels)));
}

}  // namespace c3::collectives
