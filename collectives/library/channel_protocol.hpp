#pragma once
/// What a collective on channels takes beside the flow of its bytes, by protocol and size.

#include <optional>

#include "collectives/call.hpp"
#include "collectives/library/channel_context.hpp"
#include "collectives/library/method.hpp"
#include "collectives/planned_flows.hpp"
#include "collectives/spec.hpp"
#include "collectives/transfer_graph.hpp"

namespace c3 { inline namespace collectives {

/// Channels that run \p call by \p algorithm on large data. NCCL over several nodes: as many as its topology
/// search finds, see search_topology.
int channels_of(const ClusterSpec& cluster, const CollectiveCall& call, Algorithm algorithm);

/// Channels that the library takes for \p call. NCCL's rule (enqueue.cc, 2.30.7): channels leave while one of
/// their threads has fewer than 8 bytes (ll and ll128; of every rank's on a ring) or 64 (simple). A pair has
/// one channel in ll. Never fewer than one for each of \p lanes, unless method.channels.most says so.
int channels_used(const ClusterSpec& cluster, const CollectiveCall& call, const CollectiveMethod& method,
                  int members, int lanes);

/// Algorithm bandwidth that NCCL's authors have measured of an all_reduce (tree, nvls_tree) and put into the
/// tuner: what channels reach there, filling of the pipeline included. Absent for other algorithms, and where
/// the library's own bandwidth is not known.
std::optional<BytesPerSecond> measured_rate(const CollectiveCall& call, Algorithm algorithm, Protocol protocol,
                                            const ClusterSpec& cluster);

/// What a rank copies or adds within its GPU.
struct LocalCopy {
  Bytes bytes;   ///< read, and as many written
  Seconds time;  ///< all channels together, with HBM to themselves
};

/// Latencies and rates of one collective. Wrong when: steps of one chain overlap more than a slice's copying.
class ChannelProtocol {
 public:
  /// \p cluster and \p graph must outlive it; \p graph may be folded. \throws InfeasibleError for a
  /// protocol that the library, the algorithm or the fabric between nodes has not.
  ChannelProtocol(const ClusterSpec& cluster, const CollectiveCall& call, const CollectiveMethod& method,
                  const TransferGraph& graph);

  int width() const { return channels_.width; }
  /// Receivers to which channels are dealt in turn: the lanes and, last, the rank itself where it has channels.
  int places() const { return channels_.places; }
  /// How a pipelined graph's longest transfer is divided: into whole chunks of the library and a rest, as NCCL
  /// and RCCL do. The pipeline fills at the pace of a whole chunk, however few follow it.
  Chunking chunks() const;
  /// Progress of \p flow in a second that the channels cannot pass; infinity where only their rates bound it.
  double bound(const PlannedFlow& flow) const;
  /// Payload that one channel moves, alone on its CU. In ll, lines that are polled in host memory come a
  /// thread's round after another.
  BytesPerSecond channel_rate() const;
  /// Payload that all channels of one CU move together, at boost clock.
  BytesPerSecond cu_rate() const;
  /// Payload per link and direction.
  BytesPerSecond link_payload() const;
  /// Bytes a NIC sends per payload byte; more than 1 for LL and LL128, which interleave flags, and for an
  /// all-to-all over three nodes or more, whose senders meet at one NIC (TransportSpec::incast).
  double network_bytes() const;
  /// Time paid once per collective, whatever its steps: setup() and last_slices(). The gap before the
  /// collective is not part of it.
  Seconds base() const { return setup() + last_slices(); }
  /// Launch, and whatever channels do before their first byte.
  Seconds setup() const;
  /// What a receiver does after its last byte, and the ends of a pair to meet.
  Seconds last_slices() const;
  /// The copy of a message out of the receiver's buffer into its memory, by all channels of the receiver. Takes
  /// no time where the library has no local_rate, and in protocols that flag every word.
  LocalCopy copy_out() const;
  /// Work on the shard that a rank contributes or keeps, while no link is busy. Protocol simple: an
  /// all-gather that is not in place copies it, a reduce-scatter adds it, a ring all-reduce stores the last
  /// sum; nullopt also where the library has no local_rate. Protocol ll: a ring's last turn receives and sends
  /// nothing, which makes N - 1 sends take N turns of its threads.
  std::optional<LocalCopy> local_copy() const;
  /// Latency of the steps that \p flow takes one after another.
  Seconds latency(const PlannedFlow& flow) const;

 private:
  std::optional<Bytes> line_round() const;
  std::optional<LocalCopy> copy_of_shard() const;
  std::optional<LocalCopy> last_turn() const;
  LocalCopy copied(Bytes shard, BytesPerSecond of_channel) const;
  double collisions() const;  ///< bytes for which a NIC is busy, of each that it carries

  ChannelContext channels_;
};

}}  // namespace c3::collectives
