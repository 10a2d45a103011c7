// Dragonfly and torus, against routes and rates worked out by hand. One GPU and one NIC of 50 GB/s a node;
// links of 40.

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "engine/errors.hpp"
#include "interconnect/switch_network.hpp"
#include "tests/support/near.hpp"
#include "tests/support/network.hpp"
#include "tests/support/print_units.hpp"

namespace c3::interconnect_routers_test {

using namespace literals;
using test::Network;

namespace {

NodeSpec single() {
  NodeSpec node = test::node_of_four();
  node.gpus = 1;
  return node;
}

using Names = std::vector<std::string>;

Names route_of(const FabricSpec& fabric, int nodes, int src, int dst, std::uint64_t flow = 0) {
  const auto network = make_switch_network(fabric, nodes);
  Names names;
  network->add_links([&](const std::string& name, BytesPerSecond) { names.push_back(name); });
  std::vector<Demand> demands;
  Route route(demands, 0);
  network->add_path(route, src, dst, 1.0_B, flow);
  Names taken;
  for (const Demand& demand : demands)
    taken.push_back(names.at(demand.resource));
  return taken;
}

FabricSpec hashed_dragonfly() {
  FabricSpec fabric = test::small_dragonfly();
  fabric.routing = FabricRouting::ecmp;
  return fabric;
}

}  // namespace

TEST_CASE(
    "dragonfly: within a switch no link, within a group one, between groups at most local, global, local") {
  // Six NICs a group, 18 in three. Group 0's links to group 1 are at switches 0 and 1, to group 2 at 2 and 0;
  // group 2's to group 0 (its next but none: distance 1) at 0 and 1, group 1's to group 0 (distance 2) at 2 and
  // 0.
  const FabricSpec fabric = hashed_dragonfly();
  CHECK(route_of(fabric, 18, 0, 1).empty());
  CHECK(route_of(fabric, 18, 0, 4) == Names{"g0s0-g0s2"});
  CHECK(route_of(fabric, 18, 0, 10) == Names{"g0s0-g1s2.0"});
  CHECK(route_of(fabric, 18, 0, 10, 1) == Names{"g0s0-g0s1", "g0s1-g1s0.1", "g1s0-g1s2"});
  CHECK(route_of(fabric, 18, 2, 8) == Names{"g0s1-g0s0", "g0s0-g1s2.0", "g1s2-g1s1"});
  CHECK(route_of(fabric, 18, 0, 16) == Names{"g0s0-g0s2", "g0s2-g2s0.0", "g2s0-g2s2"});
}

TEST_CASE("dragonfly: adaptive traffic between two groups shares all their links") {
  // Two links of 40 GB/s. One NIC fills itself, half over each; the six of a group get 80 / 6.
  Network few(single(), test::small_dragonfly(), 12);
  CHECK(few.rate(few.send(0, 6)) == near(50e9));
  Network many(single(), test::small_dragonfly(), 12);
  std::vector<FlowId> flows;
  for (int nic = 0; nic < 6; ++nic)
    flows.push_back(many.send(nic, 6 + nic));
  for (const FlowId flow : flows)
    CHECK(many.rate(flow) == near(80e9 / 6));
}

TEST_CASE("dragonfly: adaptive traffic of one switch to another goes round by the rest of the group") {
  // Two links out of a switch, 80 GB/s for its two NICs of 50; a fixed route has the one link of 40 between the
  // two.
  const FabricSpec adaptive = test::small_dragonfly();
  CHECK(route_of(adaptive, 6, 0, 1).empty());
  CHECK(route_of(adaptive, 6, 0, 4) == Names{"g0s0.up", "g0s2.down"});
  Network rounds(single(), adaptive, 6);
  const FlowId a = rounds.send(0, 4);
  CHECK(rounds.rate(a) == near(50e9));
  const FlowId b = rounds.send(1, 5);
  CHECK(rounds.rate(a) == near(40e9));
  CHECK(rounds.rate(b) == near(40e9));
  Network fixed(single(), hashed_dragonfly(), 6);
  const FlowId c = fixed.send(0, 4);
  const FlowId d = fixed.send(1, 5);
  CHECK(fixed.rate(c) == near(20e9));
  CHECK(fixed.rate(d) == near(20e9));
}

TEST_CASE("torus: the first dimension first, the shorter way round, upwards where both are as long") {
  const FabricSpec fabric = test::torus_of({4, 3});
  // Router x + 4 y. The way from (0, 0) to (2, 1): two steps up in x, as short as down, then y.
  CHECK(route_of(fabric, 12, 0, 6) == Names{"router0-router1.0", "router1-router2.0", "router2-router6.2"});
  // The way from (0, 0) to (3, 2): one step down in each.
  CHECK(route_of(fabric, 12, 0, 11) == Names{"router0-router3.1", "router3-router11.3"});
}

TEST_CASE("torus: neighbours that push into one link share it") {
  // A ring of five: 0 -> 2 and 1 -> 2 both take the link 1 -> 2 of 40 GB/s; 2 -> 1 goes the other way.
  Network ring(single(), test::torus_of({5}), 5);
  const FlowId far = ring.send(0, 2);
  const FlowId near_by = ring.send(1, 2);
  const FlowId back = ring.send(2, 1);
  CHECK(ring.rate(far) == near(20e9));
  CHECK(ring.rate(near_by) == near(20e9));
  CHECK(ring.rate(back) == near(40e9));
  CHECK((ring.interconnect.latency(0, 2) - ring.interconnect.latency(0, 1)).value == near(0.2e-6));
}

TEST_CASE("a network says how many links it has, and one of more than memory holds is refused") {
  const auto counted = [](const FabricSpec& fabric, int nodes) {
    const auto network = make_switch_network(fabric, nodes);
    std::size_t links = 0;
    network->add_links([&](const std::string&, BytesPerSecond) { ++links; });
    CHECK(network->links() == double(links));
    return links;
  };
  CHECK(counted(test::torus_of({4, 3}), 12) == 2 * 2 * 12);
  CHECK(counted(hashed_dragonfly(), 18) == 3 * 3 * 2 + 3 * 2 * 2);
  CHECK(counted(test::small_dragonfly(), 12) == 2 * 3 * 2 + 2 * 2);
  FabricSpec pods = test::tree_of_pods(FabricTopology::fat_tree, 4, 1.0);
  CHECK(counted(pods, 4) == 2 * (4 + 2));
  pods.routing = FabricRouting::ecmp;
  CHECK(counted(pods, 4) == 2 * (4 * 2 + 2 * 2 * 2));
  CHECK_THROWS_WITH_AS(Network(single(), test::torus_of({256, 256, 256}), 2),
                       "fabric 'torus' has 1e+08 links between switches; at most 2e+07 can be simulated",
                       InfeasibleError);
}

}  // namespace c3::interconnect_routers_test
