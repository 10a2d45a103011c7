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

/// The tree of four, whose sockets have memory of 60 GB/s; kernels of a GPU read 20 GB/s of it, and a link to a
/// socket carries 18 GB/s each way of what is read and written there. Between sockets the search sees 10 GB/s.
inline NodeSpec tree_with_memory(P2pReach p2p, bool shm = true) {
  using namespace literals;
  NodeSpec node = tree_of_four();
  node.host = {.p2p = p2p,
               .shm = shm,
               .sockets = {4, 5},
               .memory = 60.0_GBps,
               .read = 20.0_GBps,
               .both_ways = 18.0_GBps,
               .latency = 0.7_us,
               .between = 10.0_GBps};
  return node;
}

/// gpu0 and gpu1 behind a switch at the first socket, gpu2 at that socket, gpu3 at the second.
inline NodeSpec tree_with_switch(P2pReach p2p, bool shm = true) {
  NodeSpec node = tree_with_memory(p2p, shm);
  node.hubs.emplace_back("sw0");
  node.wires = {{0, 6}, {1, 6}, {6, 4}, {2, 4}, {3, 5}, {.a = 4, .b = 5, .count = 1, .link = 1}};
  return node;
}

}  // namespace c3::test
