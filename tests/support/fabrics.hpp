#pragma once
/// Nodes with NICs and fabrics in round numbers.

#include <utility>
#include <vector>

#include "interconnect/fabric.hpp"
#include "tests/support/mi300x_like.hpp"

namespace c3::test {

/// Four GPUs on a switch, with room for eight NICs.
inline NodeSpec node_of_four() {
  using namespace literals;
  NodeSpec node = switched(4);
  node.nic_slots = 8;
  node.pcie = {.raw = 64.0_GBps, .one_way = 60.0_GBps, .both_ways = 55.0_GBps, .latency = 0.4_us};
  return node;
}

inline FabricSpec one_switch(int nics) {
  using namespace literals;
  return {.name = "one-switch",
          .topology = FabricTopology::single_switch,
          .nics_per_node = nics,
          .nic = {.raw = 53.0_GBps, .one_way = 50.0_GBps, .both_ways = 45.0_GBps, .latency = 1.0_us},
          .switch_latency = 0.2_us};
}

/// Leaves of \p leaf_nics NICs that leave \p oversubscription times less than they take; ecmp over two spines.
inline FabricSpec tree_of(FabricTopology topology, int leaf_nics, double oversubscription) {
  FabricSpec fabric = one_switch(4);
  fabric.name = "tree";
  fabric.topology = topology;
  fabric.tree = {.leaf_nics = leaf_nics, .spines = 2, .leaf_oversubscription = oversubscription};
  return fabric;
}

/// Pods of two leaves and two spines, two cores above each spine.
inline FabricSpec tree_of_pods(FabricTopology topology, int leaf_nics, double pod_oversubscription) {
  FabricSpec fabric = tree_of(topology, leaf_nics, 1.0);
  fabric.tree.levels = 3;
  fabric.tree.pod_leaves = topology == FabricTopology::leaf_spine ? 4 : 2;
  fabric.tree.spine_cores = 2;
  fabric.tree.pod_oversubscription = pod_oversubscription;
  return fabric;
}

/// Two NICs a switch, three switches a group, two links between groups; links of 40 GB/s.
inline FabricSpec small_dragonfly() {
  using namespace literals;
  FabricSpec fabric = one_switch(1);
  fabric.name = "dragonfly";
  fabric.topology = FabricTopology::dragonfly;
  fabric.dragonfly = {.switch_nics = 2, .group_switches = 3, .local_links = 1, .global_links = 2};
  fabric.link = {.raw = 50.0_GBps, .one_way = 40.0_GBps, .both_ways = 40.0_GBps, .latency = 0.1_us};
  return fabric;
}

inline FabricSpec torus_of(std::vector<int> sizes) {
  FabricSpec fabric = small_dragonfly();
  fabric.name = "torus";
  fabric.topology = FabricTopology::torus;
  fabric.torus = std::move(sizes);
  return fabric;
}

}  // namespace c3::test
