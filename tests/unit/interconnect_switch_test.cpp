// What the ports of a switched node carry, against rates worked out by hand.

#include <doctest/doctest.h>

#include <stdexcept>

#include "engine/errors.hpp"
#include "interconnect/interconnect.hpp"
#include "tests/support/flow_clock.hpp"
#include "tests/support/mi300x_like.hpp"
#include "tests/support/near.hpp"

namespace c3::interconnect_switch_test {

using namespace literals;

namespace {

constexpr double kOneWay = 370e9;    // B/s
constexpr double kBothWays = 350e9;  // B/s, each way
constexpr int kGpus = 8;

struct Ports : FlowClock {
  explicit Ports(const Interconnect::Setup& setup = {}) : interconnect(simulation.fluid(), {node}, setup) {}

  FlowId send(int src, int dst, double bytes = 1.0) {
    std::vector<Demand> demands;
    interconnect.add_route(demands, 0, src, dst, Bytes{bytes});
    return start(tags_++, demands, {.demands = {}, .weight = 1.0 / bytes});
  }

  FlowId to_switch(int gpu) {
    std::vector<Demand> demands;
    interconnect.add_to_switch(demands, 0, gpu, 1.0_B);
    return start(tags_++, demands);
  }

  FlowId from_switch(int gpu) {
    std::vector<Demand> demands;
    interconnect.add_from_switch(demands, 0, gpu, 1.0_B);
    return start(tags_++, demands);
  }

  const NodeSpec node = test::switched(kGpus);
  const Interconnect interconnect;

 private:
  std::uint64_t tags_ = 0;
};

}  // namespace

TEST_CASE("through a switch any pair alone gets the port's one-way rate") {
  for (const auto& [src, dst] : {std::pair{0, 1}, std::pair{0, 4}, std::pair{7, 2}}) {
    Ports ports;
    CHECK(ports.rate(ports.send(src, dst)) == near(kOneWay));
  }
}

TEST_CASE("transfers from one GPU share its port out, transfers to one GPU its port in") {
  Ports fan_out, fan_in;
  for (int peer = 1; peer < 5; ++peer) {
    CHECK(fan_out.send(0, peer).index + 1 == static_cast<unsigned>(peer));
    fan_in.send(peer, 0);
  }
  for (std::uint32_t flow = 0; flow < 4; ++flow) {
    CHECK(fan_out.rate({flow, 0}) == near(kOneWay / 4));
    CHECK(fan_in.rate({flow, 0}) == near(kOneWay / 4));
  }
}

TEST_CASE("a port that sends and receives gives each direction its both-ways rate") {
  Ports ports;
  const FlowId there = ports.send(2, 3);
  const FlowId back = ports.send(3, 2);
  CHECK(ports.rate(there) == near(kBothWays));
  CHECK(ports.rate(back) == near(kBothWays));
}

TEST_CASE("pairs that share no port do not slow each other") {
  Ports ports;
  const FlowId first = ports.send(0, 1);
  const FlowId second = ports.send(2, 3);
  CHECK(ports.rate(first) == near(kOneWay));
  CHECK(ports.rate(second) == near(kOneWay));
}

TEST_CASE("folded ports give what explicit ones give when every rank sends alike") {
  for (int peers = 1; peers < kGpus; ++peers) {
    Ports all;
    for (int src = 0; src < kGpus; ++src) {
      for (int step = 1; step <= peers; ++step)
        all.send(src, (src + step) % kGpus);
    }
    Ports one({.streams = {}, .private_links = false, .folded = true});
    for (int step = 1; step <= peers; ++step)
      one.send(0, step);
    CAPTURE(peers);
    CHECK(one.rate({0, 0}) == near(all.rate({0, 0})));
    CHECK(one.rate({0, 0}) == near(kBothWays / peers));
  }
}

TEST_CASE("a switch has one ring, through the ranks in order, and one port's raw egress") {
  CHECK(disjoint_rings(test::switched(4), std::vector{0, 1, 2, 3}) ==
        std::vector<std::vector<int>>{{0, 1, 2, 3}});
  CHECK(raw_egress(test::switched(8)) == 450.0_GBps);
  CHECK(raw_egress(test::full_mesh(8)) == 448.0_GBps);
}

TEST_CASE("what a GPU sends to the switch takes its port out, and nothing of any other GPU") {
  Ports ports;
  const FlowId reduced = ports.to_switch(2);
  CHECK(ports.rate(reduced) == near(kOneWay));
  const FlowId elsewhere = ports.send(3, 4);
  const FlowId shared = ports.send(2, 5);
  CHECK(ports.rate(elsewhere) == near(kOneWay));
  CHECK(ports.rate(reduced) == near(kOneWay / 2));
  CHECK(ports.rate(shared) == near(kOneWay / 2));
}

TEST_CASE("what a GPU gets from the switch takes its port in, and both directions share the port") {
  Ports ports;
  const FlowId multicast = ports.from_switch(2);
  CHECK(ports.rate(multicast) == near(kOneWay));
  const FlowId reduced = ports.to_switch(2);
  CHECK(ports.rate(multicast) == near(kBothWays));
  CHECK(ports.rate(reduced) == near(kBothWays));
  const FlowId shared = ports.send(7, 2);
  CHECK(ports.rate(multicast) == near(kOneWay / 2));
  CHECK(ports.rate(shared) == near(kOneWay / 2));
}

TEST_CASE("folded, the one port carries to and from the switch what each of the explicit ones does") {
  Ports all;
  for (int gpu = 0; gpu < kGpus; ++gpu) {
    all.to_switch(gpu);
    all.from_switch(gpu);
    all.send(gpu, (gpu + 1) % kGpus);
  }
  Ports one({.streams = {}, .private_links = false, .folded = true});
  const FlowId out = one.to_switch(0);
  const FlowId in = one.from_switch(0);
  const FlowId ring = one.send(0, 1);
  CHECK(one.rate(out) == near(all.rate({0, 0})));
  CHECK(one.rate(in) == near(all.rate({1, 0})));
  CHECK(one.rate(ring) == near(all.rate({2, 0})));
  CHECK_THROWS_WITH_AS(one.to_switch(1), "Interconnect: no such port", std::logic_error);
}

TEST_CASE("a node without a switch refuses what only a switch can do, by its name") {
  FlowClock clock;
  const NodeSpec mesh = test::full_mesh(4);
  const Interconnect interconnect(clock.simulation.fluid(), {mesh}, {});
  std::vector<Demand> demands;
  const char* text = "node 'mesh' has no switch between its GPUs that could reduce or multicast";
  CHECK_THROWS_WITH_AS(interconnect.add_to_switch(demands, 0, 0, 1.0_B), text, InfeasibleError);
  CHECK_THROWS_WITH_AS(interconnect.add_from_switch(demands, 0, 0, 1.0_B), text, InfeasibleError);
}

}  // namespace c3::interconnect_switch_test
