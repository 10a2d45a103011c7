// What the way between nodes carries, against rates worked out by hand.

#include <doctest/doctest.h>

#include <stdexcept>

#include "engine/errors.hpp"
#include "interconnect/interconnect.hpp"
#include "tests/support/fabrics.hpp"
#include "tests/support/flow_clock.hpp"
#include "tests/support/near.hpp"

using namespace c3;
using namespace c3::literals;

namespace {

/// NICs of 50 GB/s one way and 45 GB/s each way behind PCIe links of 60 and 55 GB/s.
struct Network : FlowClock {
  explicit Network(int nics, int nodes = 3, bool folded = false)
      : fabric(test::one_switch(nics)),
        interconnect(simulation.fluid(), {node, nodes, &fabric}, {.streams = {}, .folded = folded}) {}

  FlowId send(int src, int dst, double bytes = 1.0) {
    std::vector<Demand> demands;
    interconnect.add_route(demands, 0, src, dst, Bytes{bytes});
    return start(tags_++, demands, {.demands = {}, .weight = 1.0 / bytes});
  }

  const NodeSpec node = test::node_of_four();
  const FabricSpec fabric;
  const Interconnect interconnect;

 private:
  std::uint64_t tags_ = 0;
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
                       "2 nodes 'switch': no fabric joins them", InfeasibleError);
}

TEST_CASE("NICs that GPUs cannot share evenly refuse to fold") {
  CHECK_THROWS_WITH_AS(
      Network(3, 3, true),
      "fabric 'one-switch': ranks of several nodes see unlike links, so none can stand for all; simulate every "
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
