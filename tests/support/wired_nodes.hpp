#pragma once
/// Small wired nodes, with rates that make sums easy.

#include <string>
#include <utility>

#include "interconnect/spec.hpp"

namespace c3::test {

/// One direction 40 GB/s, both 36 GB/s each, 0.5 us.
inline LinkSpec wire_link() {
  using namespace literals;
  return {.raw = 50.0_GBps, .one_way = 40.0_GBps, .both_ways = 36.0_GBps, .latency = 0.5_us};
}

inline NodeSpec wired(int gpus, std::vector<Wire> wires) {
  return {.name = "wired",
          .topology = NodeTopology::wired,
          .gpus = gpus,
          .link = wire_link(),
          .wires = std::move(wires)};
}

/// gpu0 = gpu1 - gpu2: two links, then one.
inline NodeSpec line_of_three() { return wired(3, {{.a = 0, .b = 1, .count = 2}, {.a = 1, .b = 2}}); }

/// Two GPUs on each of two sockets, which 30 GB/s join, 25 GB/s each way when both are busy.
inline NodeSpec tree_of_four() {
  using namespace literals;
  NodeSpec node = wired(4, {{0, 4}, {1, 4}, {2, 5}, {3, 5}, {.a = 4, .b = 5, .count = 1, .link = 1}});
  node.name = "tree";
  node.hubs = {"cpu0", "cpu1"};
  node.other_links = {{.raw = 36.0_GBps, .one_way = 30.0_GBps, .both_ways = 25.0_GBps, .latency = 0.1_us}};
  return node;
}

}  // namespace c3::test
