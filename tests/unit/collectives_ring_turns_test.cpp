// What of a ring's latency shows where its edges are unlike, by hand.

#include <doctest/doctest.h>

#include <array>
#include <cmath>

#include "collectives/backends/cu/ring_turns.hpp"
#include "tests/support/near.hpp"

namespace c3::collectives_ring_turns_test {

using namespace literals;

TEST_CASE("a ring of equal edges shows all its latency, one with a slow edge what that leaves") {
  const RingTurns equal{.slowest = 10.0_us, .together = 10.0_us, .alone = 10.0_us};
  CHECK(equal.beyond_slowest(6.0_us, 1).value == near(6e-6));
  // Half of each step is on its way while the other half is sent: 6 + 5 us against 10.
  CHECK(equal.beyond_slowest(6.0_us, 2).value == near(1e-6));
  const RingTurns unlike{.slowest = 20.0_us, .together = 12.0_us, .alone = 12.0_us};
  CHECK(unlike.beyond_slowest(6.0_us, 1).value == near(-2e-6));
  CHECK(unlike.beyond_slowest(10.0_us, 1).value == near(2e-6));
  // T = 6 + 4 + (12 - 4) 10 / T: 10 T + 80 = T^2
  const RingTurns shared{.slowest = 10.0_us, .together = 12.0_us, .alone = 4.0_us};
  CHECK(shared.beyond_slowest(6.0_us, 1).value == near((5.0 + std::sqrt(105.0)) * 1e-6 - 10e-6));
}

TEST_CASE("edges of a phase share links, and the longest way through it misses the fastest") {
  FlowSolver rates;
  const ResourceId fast = rates.add_resource(100e9);
  const ResourceId slow = rates.add_resource(10e9);
  EdgeTimes edges(rates);
  const auto add = [&](TransferOp op, Seconds at_channels, ResourceId resource, double bytes) {
    const std::array<Demand, 1> demands{{{resource, bytes}}};
    edges.add(/*lane=*/3, op, at_channels, demands, edges.longest(demands), /*count=*/1.0);
  };
  // Storing: two edges of 1 MB on the fast link, 10 us each and 20 together; one on the slow, 100; one of
  // channels, 40.
  add(TransferOp::store, 1.0_us, fast, 1e6);
  add(TransferOp::store, 1.0_us, fast, 1e6);
  add(TransferOp::store, 1.0_us, slow, 1e6);
  add(TransferOp::store, 40.0_us, fast, 0.0);
  // Adding comes before: it shares nothing with those.
  add(TransferOp::update, 1.0_us, fast, 3e6);
  add(TransferOp::update, 1.0_us, slow, 5e5);
  const std::map<int, RingTurns> lanes = edges.turns();
  REQUIRE(lanes.size() == 1);
  const RingTurns& lane = lanes.at(3);
  CHECK(lane.slowest.value == near(100e-6 + 50e-6));
  CHECK(lane.together.value == near((20e-6 + 100e-6 + 40e-6) / 3 + 50e-6));
  CHECK(lane.alone.value == near((10e-6 + 100e-6 + 40e-6) / 3 + 50e-6));
  CHECK(EdgeTimes(rates).turns().empty());
}

}  // namespace c3::collectives_ring_turns_test
