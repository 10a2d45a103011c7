#pragma once
/// What joins nodes: their NICs and the switches between. Immutable; read from configs/fabrics/*.toml.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/enum_names.hpp"
#include "engine/units.hpp"
#include "interconnect/spec.hpp"

namespace c3 { inline namespace interconnect {

enum class FabricTopology {
  single_switch,  ///< every NIC at one switch that never blocks
  leaf_spine,     ///< rails: a leaf takes NIC j of each of its nodes; spines join the leaves
  fat_tree,       ///< a leaf takes all NICs of its nodes; two levels of switches, or three
  dragonfly,      ///< groups of switches: a link for each pair in a group, links for each pair of groups
  torus,          ///< a router in each node, with a link to both neighbours in each dimension
};
constexpr auto enum_names(FabricTopology) {
  return std::to_array<EnumName<FabricTopology>>({{"single_switch", FabricTopology::single_switch},
                                                  {"leaf_spine", FabricTopology::leaf_spine},
                                                  {"fat_tree", FabricTopology::fat_tree},
                                                  {"dragonfly", FabricTopology::dragonfly},
                                                  {"torus", FabricTopology::torus}});
}

/// How a transfer chooses among the paths of a tree; a dragonfly chooses among parallel links so.
enum class FabricRouting {
  adaptive,  ///< spreads over all: what goes up from a leaf shares all its uplinks
  ecmp,      ///< each flow takes one path, by a hash
};
constexpr auto enum_names(FabricRouting) {
  return std::to_array<EnumName<FabricRouting>>(
      {{"adaptive", FabricRouting::adaptive}, {"ecmp", FabricRouting::ecmp}});
}

/// Leaf-spine and fat-tree. Uplinks together carry what the NICs below do, divided by the oversubscription.
struct TreeSpec {
  int levels = 2;     ///< levels of switches; 3: pods of leaves and spines, joined by cores
  int leaf_nics = 1;  ///< at one leaf
  int spines = 1;     ///< spines in a pod; ecmp chooses among them, so as many as a leaf has uplinks
  double leaf_oversubscription = 1.0;
  int pod_leaves = 0;   ///< three levels
  int spine_cores = 0;  ///< three levels: cores that a spine reaches; each has one spine in every pod
  double pod_oversubscription = 1.0;  ///< three levels: what a pod's leaves send up over what it sends out

  bool operator==(const TreeSpec&) const = default;
};

struct DragonflySpec {
  int switch_nics = 1;  ///< at one switch
  int group_switches = 1;
  int local_links = 1;   ///< side by side between each pair of a group's switches
  int global_links = 1;  ///< between each pair of groups, on different switches as far as there are

  bool operator==(const DragonflySpec&) const = default;
};

/// Flags among data need an order in which both arrive.
enum class FlagSupport {
  all,    ///< with words (ll) and lines (ll128)
  words,  ///< ll only
  none,   ///< neither: only slices (simple)
};
constexpr auto enum_names(FlagSupport) {
  return std::to_array<EnumName<FlagSupport>>(
      {{"all", FlagSupport::all}, {"words", FlagSupport::words}, {"none", FlagSupport::none}});
}

/// What a plug-in or the host's network stack makes of a library's steps between nodes, whose own latencies are
/// those over verbs (InfiniBand, RoCE).
struct TransportSpec {
  Seconds flag_latency;   ///< least of a step that ends with flags (ll, ll128); twice beyond eager_size
  Bytes eager_size;       ///< largest message that is sent without asking the receiver first
  Seconds slice_latency;  ///< added to a step of slices (simple)
  FlagSupport flags = FlagSupport::all;
  /// Settings that the plug-in makes for a library with in-switch trees: the chunk that they pass on, and the
  /// largest all-reduce that takes a tree with flags instead. 0: the library's own.
  Bytes switch_chunk, tree_until;
  /// Share of its rate that a NIC keeps where senders of several nodes meet at it and their paths collide, in
  /// what all ranks send each other.
  double incast = 1.0;

  bool operator==(const TransportSpec&) const = default;
};

struct FabricSpec {
  std::string name;
  FabricTopology topology = FabricTopology::single_switch;
  int nics_per_node = 1;
  LinkSpec nic;                  ///< a NIC and its cable; latency: of both ends together
  Seconds switch_latency;        ///< each switch on the way adds this
  Seconds message_latency = {};  ///< posting a message and noticing it, both ends together
  Seconds message_cost = {};     ///< for which each message holds its NIC at either end, beside its bytes
  Bytes message_size = {};       ///< into which larger transfers are cut; 0: never
  TransportSpec transport = {};
  bool switch_reduces = false;  ///< switches add and multicast (SHARP)
  FabricRouting routing = FabricRouting::adaptive;
  std::uint64_t seed = 0;  ///< ecmp: of the hash
  int flows = 1;           ///< ecmp: into which a transfer is divided, each with a path of its own
  TreeSpec tree = {};      ///< leaf_spine, fat_tree
  DragonflySpec dragonfly = {};
  std::vector<int> torus = {};  ///< nodes along each dimension
  LinkSpec link = {};           ///< dragonfly, torus: one link between switches

  bool operator==(const FabricSpec&) const = default;
};

/// What an Interconnect is made from. All must outlive it.
struct NetworkSpec {
  const NodeSpec& node;
  int nodes = 1;
  const FabricSpec* fabric = nullptr;  ///< needed by more than one node
  int queue_pairs = 1;  ///< queue pairs a connection: flows with their own paths where a hash chooses paths
  /// Whether what changes rails goes first, within its node, to the GPU whose NIC is on the receiver's rail
  /// (NCCL's PXN). Not in wired nodes.
  bool relays = false;

  int ranks() const { return node.gpus * nodes; }
};

/// The NICs of a node that one of its GPUs uses: m NICs, g GPUs. With m >= g, GPU i owns those from i*m/g up to
/// (i+1)*m/g and spreads its bytes evenly over them; with fewer, it uses NIC i*m/g.
struct NicRange {
  int first = 0;
  int count = 1;
};
NicRange nics_of(int gpu, int gpus, int nics);

/// NICs over GPUs: above 1 a GPU owns several, below several share one.
double nics_per_gpu(const NetworkSpec& network);

/// Whether every rank sees the same links, so that one can stand for all. Switches on the way must be the same
/// for all, too: whole leaves and pods, and no path chosen by a hash.
bool is_symmetric(const NetworkSpec& network);

/// Raw rate at which one GPU can send to other nodes: of its NICs or of its PCIe link.
BytesPerSecond raw_egress(const NetworkSpec& network);

}}  // namespace c3::interconnect
