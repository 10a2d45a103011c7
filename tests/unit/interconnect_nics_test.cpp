// What the way between nodes carries, against rates worked out by hand.

#include <doctest/doctest.h>

#include <algorithm>
#include <stdexcept>

#include "engine/errors.hpp"
#include "tests/support/near.hpp"
#include "tests/support/network.hpp"
#include "tests/support/print_units.hpp"
#include "tests/support/wired_nodes.hpp"

namespace c3::interconnect_nics_test {

using namespace literals;

namespace {

/// Four GPUs a node. NICs of 50 GB/s one way and 45 GB/s each way behind PCIe links of 60 and 55 GB/s.
struct Network : test::Network {
  explicit Network(int nics, int nodes = 3, bool folded = false)
      : test::Network(test::node_of_four(), test::one_switch(nics), nodes, {.streams = {}, .folded = folded}) {}
};

}  // namespace

TEST_CASE("a transfer between nodes alone gets its NIC's 50 GB/s") {
  Network network(4);
  CHECK(network.rate(network.send(0, 4)) == near(50e9));
}

TEST_CASE("a GPU with two NICs spreads over both and is held by its PCIe link of 60 GB/s") {
  Network network(8);
  CHECK(network.rate(network.send(0, 4)) == near(60e9));
}

TEST_CASE("two GPUs with one NIC share its 50 GB/s") {
  Network network(2);
  const FlowId a = network.send(0, 4);
  const FlowId b = network.send(1, 8);
  const FlowId c = network.send(2, 6);
  CHECK(network.rate(a) == near(25e9));
  CHECK(network.rate(b) == near(25e9));
  CHECK(network.rate(c) == near(50e9));
}

TEST_CASE("incast: what arrives at one NIC shares its 50 GB/s, other NICs go on at full rate") {
  Network network(4);
  const FlowId a = network.send(0, 8);
  const FlowId b = network.send(4, 8);
  const FlowId c = network.send(1, 9);
  CHECK(network.rate(a) == near(25e9));
  CHECK(network.rate(b) == near(25e9));
  CHECK(network.rate(c) == near(50e9));
}

TEST_CASE("both ways at once a NIC carries 45 GB/s each way") {
  Network network(4);
  const FlowId there = network.send(0, 4);
  const FlowId back = network.send(4, 0);
  CHECK(network.rate(there) == near(45e9));
  CHECK(network.rate(back) == near(45e9));
}

TEST_CASE("traffic within a node takes no NIC") {
  Network network(4);
  const FlowId within = network.send(4, 5);
  network.send(4, 1);
  CHECK(network.rate(within) == near(370e9));
}

TEST_CASE("folded, rank 0's NIC sends and receives, and a shared one gives its share") {
  // Both ways 45 GB/s a NIC; two GPUs share one: 22.5.
  for (const auto& [nics, rate] : {std::pair{4, 45e9}, std::pair{2, 22.5e9}, std::pair{8, 55e9}}) {
    Network network(nics, 3, true);
    CHECK(network.rate(network.send(0, 4)) == near(rate));
  }
}

TEST_CASE("latency between nodes is both PCIe links, the NICs and the switch") {
  const Network network(4);
  CHECK(network.interconnect.latency(0, 4).value == near(2 * 0.4e-6 + 1.0e-6 + 0.2e-6));
  CHECK(network.interconnect.latency(4, 5) == 0.3_us);
}

TEST_CASE("several nodes without a fabric are refused") {
  FlowClock clock;
  const NodeSpec node = test::node_of_four();
  CHECK_THROWS_WITH_AS(Interconnect(clock.simulation.fluid(), {node, 2}, {}),
                       "2 nodes of 'switch' require a fabric", InfeasibleError);
  CHECK_FALSE(is_symmetric(NetworkSpec{node, 2}));
}

TEST_CASE("NICs that GPUs cannot share evenly refuse to fold") {
  CHECK_THROWS_WITH_AS(Network(3, 3, true),
                       "fabric 'one-switch': ranks of several nodes have different links, so that one cannot "
                       "represent all; simulate every "
                       "rank (fold = false)",
                       InfeasibleError);
}

TEST_CASE("GPUs own NICs in blocks, or share them in blocks") {
  const auto firsts = [](int gpus, int nics) {
    std::vector<std::pair<int, int>> ranges;
    for (int gpu = 0; gpu < gpus; ++gpu)
      ranges.emplace_back(nics_of(gpu, gpus, nics).first, nics_of(gpu, gpus, nics).count);
    return ranges;
  };
  CHECK(firsts(4, 8) == std::vector<std::pair<int, int>>{{0, 2}, {2, 2}, {4, 2}, {6, 2}});
  CHECK(firsts(4, 2) == std::vector<std::pair<int, int>>{{0, 1}, {0, 1}, {1, 1}, {1, 1}});
  CHECK(firsts(4, 3) == std::vector<std::pair<int, int>>{{0, 1}, {0, 1}, {1, 1}, {2, 1}});
  CHECK(firsts(2, 3) == std::vector<std::pair<int, int>>{{0, 1}, {1, 2}});
}

TEST_CASE("each message holds its NIC for its cost, beside its bytes") {
  // 1 us at 50 GB/s is 50 kB. Four messages of 100 kB take 400 + 4 x 50 kB: two thirds of the rate; one of 50
  // kB half.
  FabricSpec fabric = test::one_switch(4);
  fabric.message_cost = 1.0_us;
  fabric.message_size = 100.0_kB;
  test::Network network(test::node_of_four(), fabric, 2);
  const auto time_of = [&](double bytes) {
    double most = 0.0;
    for (const Demand& demand : network.route(0, 4, Bytes{bytes}))
      most = std::max(most, demand.amount);
    return most / 50e9;
  };
  CHECK(time_of(400e3) == near(12e-6));
  CHECK(time_of(50e3) == near(2e-6));
  // 50 kB as ten sends are ten messages, as a tenth of one a tenth.
  const auto time_as = [&](double messages) {
    std::vector<Demand> demands;
    network.interconnect.add_route(demands, 0, 0, 4, 50.0_kB, /*lane=*/0, messages);
    return std::ranges::max(demands, {}, &Demand::amount).amount / 50e9;
  };
  CHECK(time_as(10.0) == near(11e-6));
  CHECK(time_as(0.1) == near(1.5e-6));  // half of a message by its size
}

TEST_CASE("a NIC at a neighbour is reached over the neighbour's wire, as on MI250X") {
  // gpu0 - gpu1 of 75 GB/s both ways, the NIC at gpu1: gpu0's traffic shares the wire with what gpu1 sends to
  // gpu0.
  NodeSpec node = test::line_of_three();
  node.nic_at = {1};
  test::Network network(node, test::one_switch(1), 2);
  const std::vector<Demand> far = network.route(0, 3, 1.0_B);
  const std::vector<Demand> near_nic = network.route(1, 4, 1.0_B);
  CHECK(far.size() == near_nic.size() + 4);  // a wire and its duplex at both ends
  CHECK((network.interconnect.latency(0, 4) - network.interconnect.latency(1, 4)).value == near(0.5e-6));
}

TEST_CASE("what goes to switches that reduce takes a NIC one way") {
  FabricSpec fabric = test::one_switch(4);
  fabric.switch_reduces = true;
  test::Network network(test::node_of_four(), fabric, 2);
  const auto rate_of = [&](bool sends, int rank) {
    std::vector<Demand> demands;
    sends ? network.interconnect.add_to_fabric(demands, 0, rank, 1.0_B)
          : network.interconnect.add_from_fabric(demands, 0, rank, 1.0_B);
    return network.start(100 + static_cast<std::uint64_t>(rank), demands);
  };
  const FlowId up = rate_of(true, 0);
  const FlowId down = rate_of(false, 5);
  CHECK(network.rate(up) == near(50e9));
  CHECK(network.rate(down) == near(50e9));
  std::vector<Demand> demands;
  const test::Network plain(test::node_of_four(), test::one_switch(4), 2);
  CHECK_THROWS_WITH_AS(plain.interconnect.add_to_fabric(demands, 0, 0, 1.0_B),
                       "the switches of fabric 'one-switch' do not reduce or multicast", InfeasibleError);
}

TEST_CASE("each stream has NICs of its own where links are private") {
  test::Network network(test::node_of_four(), test::one_switch(4), 2,
                        {.streams = {"a", "b"}, .private_links = true});
  std::vector<Demand> demands;
  network.interconnect.add_route(demands, 1, 0, 4, 1.0_B);
  const FlowId a = network.send(0, 4);
  const FlowId b = network.start(7, demands);
  CHECK(network.rate(a) == near(50e9));
  CHECK(network.rate(b) == near(50e9));
}

TEST_CASE("a GPU with several NICs is as far from the network as from the farthest of them") {
  // Two NICs a GPU. The first of GPU 0 is at the other socket: a link of 0.5 us and one of 0.1 us.
  const auto latency = [](int first_of_gpu0) {
    NodeSpec node = test::tree_of_four();
    node.nic_at = {first_of_gpu0, 0, 1, 1, 2, 2, 3, 3};
    const test::Network network(node, test::one_switch(8), 2);
    return network.interconnect.latency(0, 4);
  };
  CHECK((latency(/*cpu1*/ 5) - latency(/*gpu0*/ 0)).value == near(2 * 0.6e-6));
}

}  // namespace c3::interconnect_nics_test
