#pragma once
/// What joins nodes: their NICs and the switches between. Immutable; read from configs/fabrics/*.toml.

#include <string>

#include "engine/units.hpp"
#include "interconnect/spec.hpp"

namespace c3 {

enum class FabricTopology {
  single_switch,  ///< every NIC at one switch that never blocks
  leaf_spine,     ///< a leaf for each rail of a group of nodes; spines join the leaves
  fat_tree,       ///< a leaf for all rails of its nodes; two or three levels
  dragonfly,      ///< groups of switches, all-to-all within a group and between groups
  torus,          ///< every node a router with a link to its two neighbours in each dimension
};

struct FabricSpec {
  std::string name;
  FabricTopology topology = FabricTopology::single_switch;
  int nics_per_node = 1;
  LinkSpec nic;            ///< a NIC and its cable; latency: of both ends together
  Seconds switch_latency;  ///< of each switch on the way

  bool operator==(const FabricSpec&) const = default;
};

/// What an Interconnect is made from. All must outlive it.
struct NetworkSpec {
  const NodeSpec& node;
  int nodes = 1;
  const FabricSpec* fabric = nullptr;  ///< needed by more than one node

  int ranks() const { return node.gpus * nodes; }
};

/// The NICs of a node that one of its GPUs uses: m NICs, g GPUs. With m >= g, GPU i owns those from i*m/g up to
/// (i+1)*m/g and spreads its bytes evenly over them; with fewer, it uses NIC i*m/g.
struct NicRange {
  int first = 0;
  int count = 1;
};
NicRange nics_of(int gpu, int gpus, int nics);

/// Whether every rank sees the same links, so that one can stand for all.
bool is_symmetric(const NetworkSpec& network);

}  // namespace c3
