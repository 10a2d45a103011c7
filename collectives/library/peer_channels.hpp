#pragma once
/// How many channels serve one peer of sends and receives, and one message.

#include <optional>
#include <vector>

#include "collectives/spec.hpp"

namespace c3::inline collectives {

/// The least power of two that is not below \p count (> 0): NCCL has so many channels for sends and receives.
int power_of_two(int count);

/// Channels of a send to a rank in another node, and of its receive: as many as the NICs of a GPU, at least
/// two, and from NCCL 2.29.2 on one for every 14 GB/s of them, rounded up to a power of two. A kernel of so few
/// leaves the GPU to others while it waits, where one of a send within a node (library.p2p_channels) takes a
/// quarter of it. Needs cluster.fabric. Source: NCCL 2.23.4, 2.28.9 and 2.30.7, src/graph/paths.cc,
/// ncclTopoGetNchannels and ncclTopoComputeP2pChannels; RCCL as NCCL 2.28.
int network_peer_channels(const ClusterSpec& cluster);

/// The same of a communicator of \p ranks that has \p all channels for sends and receives: from 2.29.2 on half
/// as many until eight ranks on a channel fit, before that one for each NIC where four do not.
int network_peer_channels(const ClusterSpec& cluster, int ranks, int all);

/// Channels of the messages over one communicator.
struct MessageChannels {
  int most = 1;      ///< of one peer
  int dealt = 1;     ///< of all channels, those that are left to each member
  Bytes least_part;  ///< bytes for which a message takes one channel more, up to `dealt`
  Bytes most_part;   ///< bytes of a channel beyond which a message takes twice as many channels, up to `most`

  /// Of a message of \p bytes.
  int of(Bytes bytes) const;
};

/// What NCCL deals to messages over a communicator of \p members. A peer has as many channels as the slowest
/// way to any member allows: through NVSwitches as many as there are, over PCIe two, to another node
/// network_peer_channels. Messages begin with the channels that are left to each of n members (32 / n of 32).
/// Absent for other libraries, and where pairs of GPUs have links of their own.
/// Source: NCCL 2.30.7, src/graph/paths.cc (ncclTopoComputeP2pChannelsPerPeer, ncclTopoComputeP2pChannels),
/// src/enqueue.cc (scheduleP2pTasksToPlan, addP2pToPlan), src/init.cc (computeBuffSizes); the same from 2.20 on
/// but for sends between nodes, see network_peer_channels.
/// Wrong when: a communicator shares its channels with the one that it was split from; nodes of four GPUs on
/// Arm, whose parts between nodes are twice as large.
std::optional<MessageChannels> message_channels(const ClusterSpec& cluster, const std::vector<int>& members);

}  // namespace c3::collectives
