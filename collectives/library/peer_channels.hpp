#pragma once
/// How many channels serve one peer of sends and receives.

#include "collectives/spec.hpp"

namespace c3::inline collectives {

/// Channels of a send to a rank in another node, and of its receive: as many as the NICs of a GPU, at least
/// two, and from NCCL 2.29.2 on one for every 14 GB/s of them, rounded up to a power of two. A kernel of so few
/// leaves the GPU to others while it waits, where one of a send within a node (library.p2p_channels) takes a
/// quarter of it. Needs cluster.fabric. Source: NCCL 2.23.4, 2.28.9 and 2.30.7, src/graph/paths.cc,
/// ncclTopoGetNchannels and ncclTopoComputeP2pChannels; RCCL as NCCL 2.28.
///
/// Wrong when: a communicator has more than 64 ranks (before 2.29.2 one channel); it has peers in the node as
/// well, for whom NCCL then takes as few.
int network_peer_channels(const ClusterSpec& cluster);

}  // namespace c3::collectives
