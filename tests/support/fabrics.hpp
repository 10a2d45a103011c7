#pragma once
/// Nodes with NICs and fabrics in round numbers.

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

}  // namespace c3::test
