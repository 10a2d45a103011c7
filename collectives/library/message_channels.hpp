#pragma once
/// How many channels a message gets, by its size and by the communicator that it goes over.

#include <optional>
#include <vector>

#include "collectives/spec.hpp"

namespace c3 { inline namespace collectives {

/// Channels of the messages over one communicator.
struct MessageChannels {
  int most = 1;      ///< channels of one peer
  int dealt = 1;     ///< channels that are left to each member when all are dealt
  Bytes least_part;  ///< bytes for which a message takes one channel more, up to `dealt`
  Bytes most_part;   ///< bytes of a channel beyond which a message takes twice as many channels, up to `most`

  /// Channels that a message of \p bytes gets.
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

}}  // namespace c3::collectives
