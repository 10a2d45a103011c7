#pragma once
/// What a collective on channels takes beside the flow of its bytes, by protocol and size.

#include <optional>
#include <vector>

#include "collectives/call.hpp"
#include "collectives/moves.hpp"
#include "collectives/spec.hpp"
#include "collectives/transfer_graph.hpp"

namespace c3 {

/// How a collective is run on channels.
struct ChannelMethod {
  Algorithm algorithm = Algorithm::direct;
  Protocol protocol = Protocol::simple;
  ChannelLimits channels = {};
};

/// Channels of \p library that run \p kind by \p algorithm on large data.
int channels_of(const CollectiveLibrarySpec& library, CollectiveKind kind, Algorithm algorithm);

/// Channels that the library takes for \p call. As NCCL (enqueue.cc, 2.30.7): channels leave while a thread of
/// theirs has fewer than 8 bytes (ll and ll128; of every rank's on a ring) or 64 (simple). A pair has one
/// channel in ll. Never fewer than one for each of \p lanes, unless method.channels.most says so.
int channels_used(const CollectiveLibrarySpec& library, const CollectiveCall& call, const ChannelMethod& method,
                  int members, int lanes);

/// Bytes that NCCL passes through the switch at once for each channel and head (enqueue.cc, 2.30.7): 128 KiB,
/// less where few of them would follow one another.
Bytes nvls_chunk(Bytes bytes, int channels, int heads);

/// The same of nvls_tree, for \p nodes nodes. \param set by a plug-in, in place of the library's largest chunk
Bytes nvls_tree_chunk(Bytes bytes, int channels, int heads, int nodes, Bytes set = {});

/// What a rank copies or adds within its GPU.
struct LocalCopy {
  Bytes bytes;   ///< read, and as many written
  Seconds time;  ///< of all channels, with HBM to themselves
};

/// Latencies and rates of one collective. Wrong when: steps of one chain overlap more than a slice's copying.
class ChannelProtocol {
 public:
  /// \p cluster and \p graph must outlive it; \p graph may be folded. \throws InfeasibleError for a
  /// protocol that the library, the algorithm or the fabric between nodes has not.
  ChannelProtocol(const ClusterSpec& cluster, const CollectiveCall& call, const ChannelMethod& method,
                  const TransferGraph& graph);

  int width() const { return width_; }
  /// Receivers to which channels are dealt in turn: the lanes and, last, the rank itself where it has channels.
  int places() const { return places_; }
  /// How a pipelined graph's longest transfer is divided: into whole chunks of the library and a rest, as NCCL
  /// and RCCL do. The pipeline fills at the pace of a whole chunk, however few follow it.
  Chunking chunks() const;
  /// Progress of \p move in a second that the channels cannot pass; infinity where only their rates bound it.
  double bound(const Move& move) const;
  BytesPerSecond channel_rate() const { return spec_.channel_rate; }
  /// Payload that all channels of one CU move together, at boost clock.
  BytesPerSecond cu_rate() const;
  /// Payload per link and direction.
  BytesPerSecond link_payload() const;
  /// Bytes a NIC sends per payload byte; more than 1 for LL and LL128, which interleave flags.
  double network_bytes() const;
  /// Time paid once per collective, whatever its steps: launch and set-up, handshakes, and copying the last
  /// slice. The gap before the collective is not part of it.
  Seconds base() const;
  /// Work on the shard that a rank contributes or keeps: an all-gather that is not in place copies it, a
  /// reduce-scatter adds it, a ring all-reduce stores the last sum. No link is busy meanwhile. nullopt: there
  /// is none, or the library has no local_rate.
  std::optional<LocalCopy> local_copy() const;
  /// Latency of the steps that \p move takes one after another.
  Seconds latency(const Move& move) const;

 private:
  bool is_one_shot() const;
  Seconds network_hop() const;
  Seconds network_step() const;  ///< behind one switch
  Seconds tree_fill() const;
  Bytes tree_chunk(Bytes of_channel) const;
  std::optional<Bytes> line_round() const;
  BytesPerSecond copying_in_switch() const;
  Seconds posts() const;
  double plateau() const;
  Seconds in_switch() const;
  Seconds last_slice(int lane) const;
  Seconds last_slices() const;
  int in_lane(int lane) const { return std::max(1, (width_ - lane + places_ - 1) / places_); }

  const ClusterSpec& cluster_;
  const CollectiveLibrarySpec& library_;
  const CollectiveCall& call_;
  ChannelMethod method_;
  const TransferGraph& graph_;
  int nodes_;               ///< on which the members sit
  int fewest_in_node_ = 0;  ///< members on one of several nodes: their host posts most
  Seconds between_switches_;
  const ProtocolSpec& spec_;
  int width_;
  int places_;
  std::optional<BytesPerSecond> tree_rate_;
  std::vector<Bytes> longest_;  ///< by lane: step
};

}  // namespace c3
