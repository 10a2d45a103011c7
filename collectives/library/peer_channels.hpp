#pragma once
/// How many channels serve one peer of sends and receives.

#include "collectives/spec.hpp"

namespace c3 { inline namespace collectives {

/// The least power of two that is not below \p count (> 0): NCCL has so many channels for sends and receives.
int power_of_two(int count);

/// Channels of a send to a rank in another node, and of its receive: as many as the NICs of a GPU, at least
/// two, and from NCCL 2.29.2 on one for every 14 GB/s of them, rounded up to a power of two. A kernel of so few
/// leaves the GPU to others while it waits, where one of a send within a node (library.p2p_channels) takes a
/// quarter of it. With library.net_peer_channels that many, rounded up likewise. Needs cluster.fabric. Source:
/// NCCL 2.23.4, 2.28.9 and 2.30.7, src/graph/paths.cc, ncclTopoGetNchannels and ncclTopoComputeP2pChannels;
/// RCCL as NCCL 2.28.
int network_peer_channels(const ClusterSpec& cluster);

/// The same for a communicator of \p ranks that has \p all channels for sends and receives. Since 2.29.2 the
/// number halves until eight ranks fit on a channel; before, it is one for each NIC where four do not fit. With
/// library.net_peer_channels it is that many, however many ranks there are, up to \p all.
int network_peer_channels(const ClusterSpec& cluster, int ranks, int all);

}}  // namespace c3::collectives
