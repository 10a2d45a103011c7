#pragma once
/// What runs collectives: algorithms, backends, the communication library and the nodes that it serves.

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "engine/units.hpp"
#include "gpu/spec.hpp"
#include "interconnect/fabric.hpp"
#include "interconnect/spec.hpp"

namespace c3 {

/// How a collective uses the links.
enum class Algorithm {
  direct,  ///< every pair of ranks by itself, all at once
  ring,    ///< along as many rings as the node has; a chain for one-to-all and all-to-one
  tree,    ///< two binary trees, each for half of the data
  nvls,    ///< the switch adds what ranks hold and multicasts what one writes (NVLink SHARP)
};
inline constexpr std::array kAlgorithms = {Algorithm::direct, Algorithm::ring, Algorithm::tree,
                                           Algorithm::nvls};

enum class Backend {
  cu,   ///< channels are work groups that hold CU slots (RCCL, NCCL)
  dma,  ///< one copy engine per peer (ConCCL)
};

/// How finely a collective is simulated.
enum class CollectiveGrain {
  step,  ///< every chunk on every edge is a flow, with its dependencies
  edge,  ///< one pipelined flow for each edge
  gang,  ///< one flow for the whole collective
};

std::string_view name_of(Algorithm algorithm);
std::string_view name_of(Backend backend);

/// Parameters of a CU-driven collective library on one GPU family.
struct CollectiveLibrarySpec {
  std::string name;
  int channels = 1;      ///< work groups of one collective
  int p2p_channels = 0;  ///< of a direct one, whose peers have channels of their own; 0: as many as the others
  int waves_per_channel = 1;
  Bytes channel_lds;
  Bytes channel_registers;
  BytesPerSecond channel_rate;  ///< payload that one channel moves, alone on its CU, at boost clock
  BytesPerSecond cu_rate;       ///< payload that all channels of one CU move together, at boost clock
  double clock_share = 0;       ///< share of a channel's time per byte that scales with the core clock, 0..1
  BytesPerSecond
      link_payload;           ///< payload per link and direction that the library's protocol leaves, both ways
  double staging_bytes = 0;   ///< HBM bytes at the receiver per wire byte, beyond one read and one write
  Bytes channel_outstanding;  ///< in flight at HBM for one channel: bandwidth times latency
  Seconds base_latency;       ///< of one collective: launch, handshake
  Seconds hop_latency;        ///< of one step of an algorithm
  Bytes chunk_size;           ///< what a channel of a pipelined algorithm (tree, chain) passes on at once
  int nvls_channels = 0;      ///< channels of an in-switch (NVLS) collective; 0: the library has none
  BytesPerSecond nvls_payload = {};  ///< payload per port and direction in an in-switch collective
  Seconds nvls_latency = {};         ///< of one in-switch collective, instead of hop latencies

  bool operator==(const CollectiveLibrarySpec&) const = default;
};

/// Identical nodes of identical GPUs, and the library that serves them.
struct ClusterSpec {
  std::string name;  ///< slug, e.g. "mi300x-8"
  GpuSpec gpu;
  NodeSpec node;
  CollectiveLibrarySpec library;
  int nodes = 1;
  std::optional<FabricSpec> fabric = std::nullopt;  ///< what joins several nodes

  /// Rank r is GPU r % node.gpus of node r / node.gpus.
  int ranks() const { return node.gpus * nodes; }
  /// It must outlive what is made from it.
  NetworkSpec network() const { return {node, nodes, fabric ? &*fabric : nullptr}; }

  bool operator==(const ClusterSpec&) const = default;
};

}  // namespace c3
