#pragma once
/// What joins the GPUs of a node. Immutable; read from configs/nodes/*.toml.

#include <string>
#include <vector>

#include "base/enum_names.hpp"
#include "engine/units.hpp"

namespace c3 { inline namespace interconnect {

enum class NodeTopology {
  full_mesh,  ///< one link for each pair of GPUs
  switched,   ///< one port for each GPU to a switch that never blocks
  wired,      ///< what NodeSpec::wires says: hybrid cube, PCIe tree with sockets, any other
};
constexpr auto enum_names(NodeTopology) {
  return std::to_array<EnumName<NodeTopology>>({{"full_mesh", NodeTopology::full_mesh},
                                                {"switched", NodeTopology::switched},
                                                {"wired", NodeTopology::wired}});
}

/// A full-duplex link between two GPUs, or the port of one to the switch. Rates are payload bytes of one
/// direction.
struct LinkSpec {
  BytesPerSecond raw;        ///< signalling rate: the lower bound's rate
  BytesPerSecond one_way;    ///< usable when the reverse direction is idle
  BytesPerSecond both_ways;  ///< usable per direction when both directions are busy; <= one_way
  Seconds latency;           ///< per hop

  bool operator==(const LinkSpec&) const = default;
};

/// `count` parallel links between two vertices. Vertices 0 .. gpus-1 are GPUs, further ones the hubs in their
/// order.
struct Wire {
  int a = 0;
  int b = 0;
  int count = 1;
  int link = 0;  ///< 0: NodeSpec::link; i > 0: NodeSpec::other_links[i - 1]

  bool operator==(const Wire&) const = default;
};

/// Up to where GPUs of a wired node store into each other's memory, as NCCL_P2P_LEVEL: by what is between them.
enum class P2pReach {
  none,       ///< never, not even over a wire of their own
  wires,      ///< wires of their own only (NVL)
  direct,     ///< PCIe switches, too (PIX, PXB)
  host,       ///< one processor's host bridge, too (PHB)
  all,        ///< several processors (SYS)
  automatic,  ///< what the library takes by itself, see peer_reach: a cluster that is read has one of the
              ///< others
};
constexpr auto enum_names(P2pReach) {
  return std::to_array<EnumName<P2pReach>>({{"none", P2pReach::none},
                                            {"nvlink", P2pReach::wires},
                                            {"switch", P2pReach::direct},
                                            {"host", P2pReach::host},
                                            {"all", P2pReach::all},
                                            {"auto", P2pReach::automatic}});
}

/// The processors of a wired node, and what goes through their memory where GPUs do not reach each other.
struct HostPathSpec {
  P2pReach p2p = P2pReach::all;
  bool shm = true;                ///< other pairs pass data through host memory; else over the network
  std::vector<int> sockets = {};  ///< hubs that are processors with memory; empty: nothing is known of them
  /// What the memory of one socket reads and writes, together; not wired: of all processors. 0: not known.
  BytesPerSecond memory;
  BytesPerSecond read;  ///< what kernels of one GPU read of it while they write as much
  /// Payload each way over a wire at a socket, to and from memory, with both ways busy. At most the wire's own
  /// rate.
  BytesPerSecond both_ways;
  Seconds latency;         ///< extra time of a step through host memory over a store to a peer
  BytesPerSecond between;  ///< what a library's topology search takes the way between sockets for

  bool operator==(const HostPathSpec&) const = default;
};

struct NodeSpec {
  std::string name;
  NodeTopology topology = NodeTopology::full_mesh;
  int gpus = 1;
  LinkSpec link;                ///< between GPUs, or of a GPU's port; what a library's payload rate refers to
  bool switch_reduces = false;  ///< switched: the switch adds and multicasts (NVLink SHARP)
  std::vector<std::string> hubs = {};      ///< wired: sockets and switches by name
  std::vector<LinkSpec> other_links = {};  ///< wired: further kinds of link, e.g. between sockets
  std::vector<Wire> wires = {};            ///< wired
  int nic_slots = 0;                       ///< NICs that fit; 0: the node cannot join a fabric
  LinkSpec pcie = {};                      ///< between a GPU and its NICs, one for each GPU; not with nic_at
  std::vector<int> nic_at = {};            ///< wired: the vertex at which each slot is; a route leads there
  LinkSpec c2c = {};                       ///< links a GPU to its processor alone; raw 0: PCIe leads there
  HostPathSpec host = {};                  ///< not wired: what is said of memory alone
  double usd_per_gpu_hour = 0.0;           ///< list price of a GPU with its share of the node; 0: not known

  bool operator==(const NodeSpec&) const = default;
};

/// What links of a GPU carry, of what a sound one's do: 1 all, above 0.
struct LinkShares {
  double links = 1.0;  ///< links to the other GPUs of its node, both ways
  double nics = 1.0;   ///< its NICs, both ways

  bool operator==(const LinkShares&) const = default;
};

/// Whether every GPU sees the same links, so that one can stand for all.
bool is_symmetric(const NodeSpec& node);

/// Raw rate at which one GPU can send over all its links; the best GPU's where they differ.
BytesPerSecond raw_egress(const NodeSpec& node);

}}  // namespace c3::interconnect
