// How GPUs of a wired node reach each other, and what that loads, against rates worked out by hand.

#include "interconnect/host_paths.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/errors.hpp"
#include "tests/support/near.hpp"
#include "tests/support/network.hpp"
#include "tests/support/print_units.hpp"
#include "tests/support/wired_nodes.hpp"

namespace c3::interconnect_host_paths_test {

using namespace literals;
using namespace test;

namespace {

GpuPath path(P2pReach p2p, int src, int dst, bool shm = true) {
  const NodeSpec node = tree_with_switch(p2p, shm);
  return HostPaths(node).between(src, dst);
}

struct Wires : FlowClock {
  explicit Wires(NodeSpec spec) : node(std::move(spec)), interconnect(simulation.fluid(), {node}, {}) {}

  FlowId send(int src, int dst) {
    std::vector<Demand> demands;
    interconnect.add_route(demands, 0, src, dst, 1.0_B);
    return start(tags_++, demands);
  }

  const NodeSpec node;
  const Interconnect interconnect;

 private:
  std::uint64_t tags_ = 0;
};

}  // namespace

TEST_CASE("peers reach each other up to the level that p2p names: switch, host bridge, all sockets") {
  // 0 and 1 share a switch, 2 is at the same socket, 3 at the other one.
  for (const int peer : {1, 2, 3})
    CHECK(path(P2pReach::none, 0, peer) == GpuPath::host_memory);
  CHECK(path(P2pReach::wires, 0, 1) == GpuPath::host_memory);
  CHECK(path(P2pReach::direct, 0, 1) == GpuPath::peers);
  CHECK(path(P2pReach::direct, 0, 2) == GpuPath::host_memory);
  CHECK(path(P2pReach::host, 0, 2) == GpuPath::peers);
  CHECK(path(P2pReach::host, 2, 0) == GpuPath::peers);
  CHECK(path(P2pReach::host, 0, 3) == GpuPath::host_memory);
  CHECK(path(P2pReach::all, 0, 3) == GpuPath::peers);
}

TEST_CASE("cards with a wire of their own are peers from nvlink on") {
  NodeSpec node = tree_with_switch(P2pReach::wires);
  node.wires.push_back({.a = 0, .b = 3});
  CHECK(HostPaths(node).between(0, 3) == GpuPath::peers);
  CHECK(HostPaths(node).between(0, 2) == GpuPath::host_memory);
  node.host.p2p = P2pReach::none;
  CHECK(HostPaths(node).between(0, 3) == GpuPath::host_memory);
}

TEST_CASE("without shared memory, what is left takes the network") {
  CHECK(path(P2pReach::host, 0, 3, /*shm=*/false) == GpuPath::network);
  CHECK(path(P2pReach::host, 0, 2, /*shm=*/false) == GpuPath::peers);
}

TEST_CASE("data wait in the memory of the receiver's socket") {
  const NodeSpec node = tree_with_switch(P2pReach::direct);
  const HostPaths paths(node);
  CHECK(paths.memory_of(0) == 4);
  CHECK(paths.memory_of(3) == 5);
}

TEST_CASE(
    "a transfer through host memory is held by what the receiver's kernels read, 20 of the link's 40 GB/s") {
  Wires wires(tree_with_memory(P2pReach::direct));
  CHECK(wires.rate(wires.send(0, 1)) == near(20e9));
  Wires direct(tree_with_memory(P2pReach::host));
  CHECK(direct.rate(direct.send(0, 1)) == near(40e9));
}

TEST_CASE("both ways through host memory a link carries 18 GB/s each way, not its 36") {
  Wires wires(tree_with_memory(P2pReach::direct));
  const FlowId there = wires.send(0, 1);
  const FlowId back = wires.send(1, 0);
  // Memory: two bytes a byte, 60 / (2 x 2) = 15 GB/s each.
  CHECK(wires.rate(there) == near(15e9));
  CHECK(wires.rate(back) == near(15e9));
  NodeSpec wide = tree_with_memory(P2pReach::direct);
  wide.host.memory = 600.0_GBps;
  Wires more(wide);
  const FlowId out = more.send(0, 1);
  const FlowId in = more.send(1, 0);
  CHECK(more.rate(out) == near(18e9));
  CHECK(more.rate(in) == near(18e9));
}

TEST_CASE("sockets have memories of their own: transfers to different sockets do not share one") {
  NodeSpec node = tree_with_memory(P2pReach::direct);
  node.host.memory = 30.0_GBps;  // 15 GB/s of a transfer
  Wires wires(node);
  const FlowId first = wires.send(0, 1);
  const FlowId second = wires.send(3, 2);
  CHECK(wires.rate(first) == near(15e9));
  CHECK(wires.rate(second) == near(15e9));
  const FlowId third = wires.send(2, 0);  // into the first socket's memory, too
  CHECK(wires.rate(first) == near(7.5e9));
  CHECK(wires.rate(third) == near(7.5e9));
  CHECK(wires.rate(second) == near(15e9));
}

TEST_CASE("through host memory two cards of one switch pass the links up to the socket and down again") {
  const Wires through(tree_with_switch(P2pReach::none));  // four links of 0.5 us
  CHECK(through.interconnect.latency(0, 1).value == near(2.0e-6));
  const Wires peers(tree_with_switch(P2pReach::direct));
  CHECK(peers.interconnect.latency(0, 1).value == near(1.0e-6));
}

TEST_CASE("a node alone has no network to take, and says so") {
  Wires wires(tree_with_memory(P2pReach::host, /*shm=*/false));
  CHECK_THROWS_WITH_AS(
      wires.send(0, 2),
      "node 'tree': gpu0 and gpu2 reach each other neither directly (p2p = \"host\") nor through "
      "host memory (shm = false), and a single node has no fabric; allow one of the two, or "
      "simulate several nodes",
      InfeasibleError);
}

TEST_CASE("sockets that only the network joins send through their NICs") {
  NodeSpec node = tree_with_memory(P2pReach::host, /*shm=*/false);
  node.nic_slots = 2;
  node.nic_at = {4, 5};
  Network network(node, one_switch(2), 2);
  // gpu0's link gives 40 GB/s, a NIC 50: two transfers share the first NIC.
  const FlowId one = network.send(0, 2);
  const FlowId other = network.send(1, 3);
  CHECK(network.rate(one) == near(25e9));
  CHECK(network.rate(other) == near(25e9));
  CHECK(network.interconnect.crosses(0, 2));
  CHECK_FALSE(network.interconnect.crosses(0, 1));
}

TEST_CASE("what changes rails leaves, relayed, by the NIC of the GPU on the receiver's rail") {
  const NodeSpec node = node_of_four();
  const FabricSpec fabric = tree_of(FabricTopology::leaf_spine, 2, 1.0);
  FlowClock clock;
  const Interconnect links(clock.simulation.fluid(), {node, 4, &fabric, 1, /*relays=*/true}, {});
  std::vector<Demand> across, along, within;
  links.add_route(across, 0, 0, 5, 1.0_B);  // from rail 0 of node 0 to rail 1 of node 1
  links.add_route(along, 0, 1, 5, 1.0_B);
  links.add_route(within, 0, 0, 1, 1.0_B);
  std::vector<Demand> wanted = within;
  wanted.insert(wanted.end(), along.begin(), along.end());
  const auto by_resource = [](std::vector<Demand> demands) {
    std::ranges::sort(demands, {}, &Demand::resource);
    std::vector<std::pair<ResourceId, double>> list;
    for (const Demand& demand : demands)
      list.emplace_back(demand.resource, demand.amount);
    return list;
  };
  CHECK(by_resource(across) == by_resource(wanted));
}

TEST_CASE("with more queue pairs and connections, hashed flows fill more of a leaf's uplinks") {
  // Four uplinks of 50 GB/s above four NICs. One flow a transfer takes one path, many spread over all.
  FabricSpec fabric = tree_of(FabricTopology::fat_tree, 4, 1.0);
  fabric.routing = FabricRouting::ecmp;
  fabric.tree.spines = 4;
  const NodeSpec node = node_of_four();
  const auto paths_of = [&](int queue_pairs, int connections) {
    FlowClock clock;
    const Interconnect links(clock.simulation.fluid(), {node, 2, &fabric, queue_pairs, false}, {});
    std::vector<Demand> demands;
    links.add_route(demands, 0, 0, 4, 1.0_B, 0, 1.0, 0, connections);
    return demands.size();
  };
  const std::size_t one = paths_of(1, 1);
  CHECK(paths_of(16, 1) > one + 2);
  CHECK(paths_of(16, 1) == paths_of(1, 16));
}

}  // namespace c3::interconnect_host_paths_test
