#pragma once
/// A collective on channels, as its algorithm sees it when it says what its steps cost.

#include <algorithm>
#include <optional>
#include <vector>

#include "collectives/algorithms/algorithm.hpp"
#include "collectives/call.hpp"
#include "collectives/planned_flows.hpp"
#include "collectives/spec.hpp"
#include "collectives/transfer_graph.hpp"

namespace c3 { inline namespace collectives {

/// The payload's part of a wire with a flag for every 8 bytes (LL).
inline constexpr double kShareBesideFlags = 0.5;

/// Whether every rank sends and receives: what meeting a peer costs was measured of these. Gather and scatter
/// are sends and receives, too, but of one rank with the others.
bool is_pairwise(CollectiveKind kind);

struct ChannelContext {
  const ClusterSpec& cluster;
  const CollectiveCall& call;
  const TransferGraph& graph;  ///< may be folded
  Algorithm algorithm;
  Protocol protocol;
  const ProtocolSpec& costs;  ///< costs of `protocol`
  int width = 1;              ///< channels of a rank
  int places = 1;             ///< receivers to which channels are dealt in turn
  int nodes = 1;              ///< on which the members sit
  int fewest_in_node = 0;     ///< members on one of several nodes: their host posts most
  Seconds between_switches = {};
  double through_host = 0.0;     ///< share of the edges within nodes that go through host memory
  double through_network = 0.0;  ///< and those over the network
  std::optional<BytesPerSecond> measured_rate = {};  ///< see ChannelCosts::measured_rate
  std::vector<Bytes> longest = {};                   ///< longest step of each lane

  const CollectiveLibrarySpec& library() const { return cluster.library; }
  int in_lane(int lane) const { return std::max(1, (width - lane + places - 1) / places); }
  /// Latency of one step within a node, in the mean of its edges.
  Seconds node_hop() const;
  /// Protocol ll: the rounds in which threads poll for their lines in host memory, over PCIe. Absent where they
  /// poll their GPU's own memory.
  struct PollRound {
    Bytes bytes;   ///< payload of a channel's threads
    Seconds time;  ///< a store and a poll that finds its line
  };
  std::optional<PollRound> poll_round() const;
  /// Latency of one step between nodes.
  Seconds network_hop() const;
  /// Latency of the steps that \p flow takes one after another.
  Seconds steps(const PlannedFlow& flow) const;

 private:
  Seconds behind_one_switch() const;
  Bytes longest_of_channel() const;  ///< bytes of a step
  Seconds in_first_round() const;
};

}}  // namespace c3::collectives
