// What the way between a GPU and its host's memory carries, against rates worked out by hand.

#include <doctest/doctest.h>

#include "engine/errors.hpp"
#include "tests/support/near.hpp"
#include "tests/support/network.hpp"
#include "tests/support/wired_nodes.hpp"

namespace c3::interconnect_host_links_test {

using namespace literals;

namespace {

/// PCIe links of 60 GB/s one way and 55 GB/s each way, NICs of 50 GB/s behind them.
struct Hosts : test::Network {
  explicit Hosts(NodeSpec node_spec = test::node_of_four(), int nodes = 1, bool folded = false)
      : test::Network(std::move(node_spec), test::one_switch(4), nodes,
                      {.streams = {}, .folded = folded, .reaches_hosts = true}) {}

  FlowId copy(EdgeKind kind, int rank) {
    std::vector<Demand> demands;
    interconnect.add_host(demands, 0, kind, rank, Bytes{1.0});
    return start(100 + copies_++, demands, {.demands = {}, .weight = 1.0});
  }

 private:
  std::uint64_t copies_ = 0;
};

NodeSpec with_memory(BytesPerSecond memory) {
  NodeSpec node = test::node_of_four();
  node.host.memory = memory;
  return node;
}

}  // namespace

TEST_CASE("a copy to the host alone gets the PCIe link's 60 GB/s, with one coming back 55") {
  Hosts hosts;
  const FlowId out = hosts.copy(EdgeKind::to_host, 1);
  CHECK(hosts.rate(out) == near(60e9));
  const FlowId in = hosts.copy(EdgeKind::from_host, 1);
  CHECK(hosts.rate(out) == near(55e9));
  CHECK(hosts.rate(in) == near(55e9));
  CHECK(hosts.interconnect.host_rate(1) == 60.0_GBps);
  CHECK(hosts.interconnect.host_latency(1) == 0.4_us);
}

TEST_CASE("GPUs share the host's memory of 150 GB/s, and what the host does itself takes it, too") {
  Hosts hosts(with_memory(150.0_GBps));
  const FlowId first = hosts.copy(EdgeKind::to_host, 0), second = hosts.copy(EdgeKind::from_host, 1);
  CHECK(hosts.rate(first) == near(60e9));
  const FlowId third = hosts.copy(EdgeKind::to_host, 2);
  for (const FlowId flow : {first, second, third})
    CHECK(hosts.rate(flow) == near(50e9));
  const FlowId own = hosts.copy(EdgeKind::within_host, 3);
  CHECK(hosts.rate(own) == near(37.5e9));
}

TEST_CASE("folded, a GPU has its part of the host's memory") {
  Hosts hosts(with_memory(150.0_GBps), 1, true);
  const FlowId out = hosts.copy(EdgeKind::to_host, 0);
  CHECK(hosts.rate(out) == near(37.5e9));
}

TEST_CASE("between nodes a copy shares the PCIe link with its GPU's NIC, and with no other's") {
  Hosts hosts(test::node_of_four(), 2);
  const FlowId message = hosts.send(0, 4);
  CHECK(hosts.rate(message) == near(50e9));
  const FlowId copy = hosts.copy(EdgeKind::to_host, 0);
  CHECK(hosts.rate(message) == near(30e9));
  CHECK(hosts.rate(copy) == near(30e9));
  const FlowId other = hosts.copy(EdgeKind::to_host, 1);
  CHECK(hosts.rate(other) == near(60e9));
  const FlowId elsewhere = hosts.copy(EdgeKind::to_host, 5);
  CHECK(hosts.rate(elsewhere) == near(60e9));
}

TEST_CASE("a link of its own to the processor takes the copies, and leaves PCIe to the NIC") {
  NodeSpec node = test::node_of_four();
  node.c2c = {.raw = 450.0_GBps, .one_way = 400.0_GBps, .both_ways = 300.0_GBps, .latency = 0.2_us};
  Hosts hosts(node, 2);
  const FlowId message = hosts.send(0, 4), copy = hosts.copy(EdgeKind::to_host, 0);
  CHECK(hosts.rate(message) == near(50e9));
  CHECK(hosts.rate(copy) == near(400e9));
  CHECK(hosts.interconnect.host_rate(0) == 400.0_GBps);
  CHECK(hosts.interconnect.host_latency(0) == 0.2_us);
}

TEST_CASE("of a wired node without sockets, as a DGX-1's GPUs among themselves, copies take PCIe links") {
  NodeSpec node = test::line_of_three();
  node.pcie = test::node_of_four().pcie;
  Hosts hosts(node);
  CHECK(hosts.rate(hosts.copy(EdgeKind::to_host, 1)) == near(60e9));
  CHECK(hosts.interconnect.host_rate(1) == 60.0_GBps);
}

TEST_CASE("of a wired node copies take the wires to the nearest socket and its memory") {
  Hosts hosts(test::tree_with_switch(P2pReach::all));
  const FlowId first = hosts.copy(EdgeKind::to_host, 0);
  CHECK(hosts.rate(first) == near(36e9));  // a wire to memory: 18 each way, 36 together
  const FlowId second = hosts.copy(EdgeKind::to_host, 1);
  CHECK(hosts.rate(first) == near(18e9));  // behind one switch
  CHECK(hosts.rate(second) == near(18e9));
  const FlowId other_socket = hosts.copy(EdgeKind::to_host, 3);
  CHECK(hosts.rate(other_socket) == near(36e9));
  CHECK(hosts.interconnect.host_latency(0) == 1.0_us);
}

TEST_CASE("a node of whose way to the host nothing is known is refused, where something goes there") {
  CHECK_THROWS_WITH_AS(Hosts{test::switched(4)}, doctest::Contains("has no link to its host"), InfeasibleError);
  CHECK_THROWS_WITH_AS(Hosts{test::tree_of_four()}, doctest::Contains("sockets"), InfeasibleError);
}

}  // namespace c3::interconnect_host_links_test
