#pragma once
/// What runs collectives: protocols, the communication library and the nodes that it serves.

#include <array>
#include <optional>
#include <string>

#include "base/enum_names.hpp"
#include "collectives/backends/backend.hpp"
#include "collectives/library/permits.hpp"
#include "collectives/library/version.hpp"
#include "collectives/straggler.hpp"
#include "engine/units.hpp"
#include "gpu/spec.hpp"
#include "interconnect/fabric.hpp"
#include "interconnect/spec.hpp"

namespace c3 { inline namespace collectives {

/// Who adds what a fused collective stores at another GPU.
enum class FusedReduction {
  near_memory,  ///< memory itself, see TriggerSpec::near_memory_update
  atomics,      ///< the memory side, which reads what it adds to
  cu,           ///< work groups of the library, from buffers
};
constexpr auto enum_names(FusedReduction) {
  return std::to_array<EnumName<FusedReduction>>({{"near_memory", FusedReduction::near_memory},
                                                  {"atomics", FusedReduction::atomics},
                                                  {"cu", FusedReduction::cu}});
}
inline constexpr auto kFusedReductions = enum_values<FusedReduction>();

/// How finely a collective is simulated.
enum class CollectiveGrain {
  step,       ///< every chunk on every edge is a flow, with its dependencies
  edge,       ///< one pipelined flow for each edge
  gang,       ///< one flow for all that goes on at once
  automatic,  ///< one of these, see choose_grain
};
constexpr auto enum_names(CollectiveGrain) {
  return std::to_array<EnumName<CollectiveGrain>>({{"auto", CollectiveGrain::automatic},
                                                   {"step", CollectiveGrain::step},
                                                   {"edge", CollectiveGrain::edge},
                                                   {"gang", CollectiveGrain::gang}});
}

/// How a channel tells its peer that data have come.
enum class Protocol {
  ll,      ///< a flag with every 8 bytes: least latency, half of the wire
  ll128,   ///< a flag with every 128-byte line; needs links that keep a line whole
  simple,  ///< a flag for each slice, behind a memory fence: all of the wire
};
constexpr auto enum_names(Protocol) {
  return std::to_array<EnumName<Protocol>>(
      {{"ll", Protocol::ll}, {"ll128", Protocol::ll128}, {"simple", Protocol::simple}});
}
inline constexpr auto kProtocols = enum_values<Protocol>();

/// Who gives collectives to the GPUs.
enum class LaunchPath {
  graph,        ///< replayed on the device: no host between two of them
  eager,        ///< a process for each GPU launches them one by one
  one_process,  ///< one process launches on every GPU of its node in turn (nccl-tests -g 8)
};
constexpr auto enum_names(LaunchPath) {
  return std::to_array<EnumName<LaunchPath>>(
      {{"graph", LaunchPath::graph}, {"eager", LaunchPath::eager}, {"one_process", LaunchPath::one_process}});
}
inline constexpr auto kLaunchPaths = enum_values<LaunchPath>();

/// What a protocol costs on one GPU family.
struct ProtocolSpec {
  Seconds base_latency;         ///< once a collective: launch and set-up, without the gap before it
  Seconds hop_latency;          ///< one step of an algorithm within a node
  Seconds network_latency;      ///< one step between nodes over verbs, NICs and one switch included
  double link_share = 1.0;      ///< share of link_payload that it leaves to payload
  BytesPerSecond channel_rate;  ///< payload that one channel moves, alone on its CU, at boost clock
  int threads = 0;              ///< threads of one channel that copy

  bool operator==(const ProtocolSpec&) const = default;
};

/// The library whose rules choose algorithm and protocol, see choose_method.
enum class TunerRules { nccl, rccl };
constexpr auto enum_names(TunerRules) {
  return std::to_array<EnumName<TunerRules>>({{"nccl", TunerRules::nccl}, {"rccl", TunerRules::rccl}});
}

/// The processor of a node's host: NCCL's tuner expects other costs of posts and flags between nodes for each.
enum class HostProcessor { intel, amd, arm };
constexpr auto enum_names(HostProcessor) {
  return std::to_array<EnumName<HostProcessor>>(
      {{"intel", HostProcessor::intel}, {"amd", HostProcessor::amd}, {"arm", HostProcessor::arm}});
}

/// Channels that a user allows and demands. 0: what the library takes.
struct ChannelLimits {
  int least = 0;
  int most = 0;

  bool operator==(const ChannelLimits&) const = default;
};

/// Parameters of a CU-driven collective library on one GPU family.
struct CollectiveLibrarySpec {
  std::string name;
  int channels = 1;  ///< work groups of one collective
  /// The library's own limits: `most` channels, and then as many of them again as `least` needs (NCCL 2.30.7,
  /// src/graph/connect.cc). Small collectives take fewer all the same.
  ChannelLimits channel_limits = {};
  MethodPermits permits = {};
  int p2p_channels = 0;       ///< channels when ranks send and receive in pairs; 0: as many as the others
  int net_peer_channels = 0;  ///< channels of those for a peer in another node; 0: the library's rule
  /// Whether an all-to-all deals them among all ranks, itself included, whose channels copy its own shard.
  bool p2p_to_itself = false;
  /// For direct collectives: whether every channel splits its threads among all peers; else peers have
  /// channels of their own, at least one each.
  bool peers_share_channels = false;
  int waves_per_channel = 1;
  Bytes channel_lds;
  Bytes channel_registers;
  ProtocolSpec simple;
  std::optional<ProtocolSpec> ll, ll128 = {};
  BytesPerSecond cu_rate;  ///< payload that all channels of one CU move together, at boost clock
  /// Like cu_rate, where ranks send and receive in pairs, see sends_in_pairs; absent: cu_rate.
  std::optional<BytesPerSecond> pair_cu_rate = std::nullopt;
  double clock_share = 0;  ///< share of a channel's time per byte that scales with the core clock, 0..1
  BytesPerSecond
      link_payload;           ///< payload per link and direction that the library's protocol leaves, both ways
  double staging_bytes = 0;   ///< HBM bytes at the receiver per wire byte, beyond one read and one write
  Bytes channel_outstanding;  ///< bytes in flight at HBM for one channel: bandwidth times latency
  Bytes chunk_size;           ///< what a channel of a pipelined algorithm (tree, chain) passes on at once
  int handshake_hops =
      0;  ///< hops in which ring neighbours in a node exchange buffer addresses, protocol simple
  /// Most that a channel sends in a step of a ring before it goes round again; 0: its slices are not told.
  Bytes ring_chunk;
  /// Protocol simple: the time beyond hop_latency until a slice of a ring within a node is known to have come
  /// (its fence). The next slice flows meanwhile.
  Seconds slice_wait;
  /// Payload that one channel copies within its GPU: its own shard, where that is not in place already, and
  /// the last sum. Absent: such copies are not counted.
  std::optional<BytesPerSecond> local_rate = std::nullopt;
  /// What it keeps for each pair of ranks and direction: a message of no more leaves its sender before it is
  /// received; 0: none does.
  Bytes pair_buffer = {};
  Seconds eager_gap;    ///< between two collectives that a host launches, beyond a graph's
  Seconds host_launch;  ///< the host's time for one collective on one GPU
  /// The host's time for each further send or receive of a group; a collective in pairs is such a group.
  Seconds group_operation;
  TunerRules rules = TunerRules::nccl;
  LibraryVersion version = kNewestNccl;  ///< release whose rules choose
  HostProcessor host_processor = HostProcessor::intel;
  bool registered_buffers = false;  ///< users register them with every rank, as NCCL's windows
  /// The fabric over which network latencies were measured, whose transport they contain; empty: verbs.
  std::string network_fabric;
  int qps = 1;       ///< queue pairs of each connection between NICs; each is a flow for the fabric's hash
  bool pxn = false;  ///< what changes rails leaves by the NIC of a GPU on the receiver's rail
  double ring_plateau = 1.0;  ///< factor on steps of a ring over several nodes, protocol simple
  /// Rate of a GPU's links to its node together, as the library's topology search counts them; 0: it has no
  /// tuner.
  BytesPerSecond tuner_bandwidth;
  /// Latency of an all-reduce by pairs in ll, a kernel of its own (MSCCL++); absent: the library has none.
  std::optional<Seconds> one_shot_latency = std::nullopt;
  int nvls_channels = 0;             ///< channels of an in-switch (NVLS) collective; 0: the library has none
  BytesPerSecond nvls_payload = {};  ///< payload per port and direction in an in-switch collective
  BytesPerSecond nvls_channel_rate = {};   ///< data that one channel copies into or out of its buffer
  Seconds nvls_latency = {};               ///< one chunk through the switch, which nothing hides
  Seconds nvls_tree_latency = {};          ///< a step through a node's switch, in a tree over nodes
  Seconds nvls_tree_network_latency = {};  ///< a step between nodes

  bool operator==(const CollectiveLibrarySpec&) const = default;
};

/// \throws std::logic_error for one that the library has not, see offers.
const ProtocolSpec& protocol_of(const CollectiveLibrarySpec& library, Protocol protocol);
bool offers(const CollectiveLibrarySpec& library, Protocol protocol);

/// Identical nodes of identical GPUs but for those that are stated to be worse, and the library that serves
/// them.
struct ClusterSpec {
  std::string name;  ///< slug, e.g. "mi300x-8"
  GpuSpec gpu;
  NodeSpec node;
  CollectiveLibrarySpec library;
  int nodes = 1;
  std::optional<FabricSpec> fabric = std::nullopt;  ///< what joins several nodes
  std::vector<Straggler> stragglers = {};

  /// Rank r is GPU r % node.gpus of node r / node.gpus.
  int ranks() const { return node.gpus * nodes; }
  /// The ranks of the first \p gpus of each node.
  std::vector<int> first_of_each_node(int gpus) const;
  /// It must outlive what is made from it.
  NetworkSpec network() const { return {node, nodes, fabric ? &*fabric : nullptr, library.qps, library.pxn}; }

  bool operator==(const ClusterSpec&) const = default;
};

/// The title in results, such as "h100-sxm-8" or "h100-sxm-8 x 4 nodes, ib-ndr".
std::string title_of(const ClusterSpec& cluster);

/// Whether data and flags of \p protocol reach other nodes in an order that it can rely on.
bool passes_between_nodes(const ClusterSpec& cluster, Protocol protocol);

}}  // namespace c3::collectives
