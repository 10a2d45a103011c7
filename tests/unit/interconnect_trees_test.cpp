// Leaf-spine and fat-tree, against rates worked out by hand. Four GPUs and four NICs of 50 GB/s a node.

#include <doctest/doctest.h>

#include <vector>

#include "engine/errors.hpp"
#include "tests/support/near.hpp"
#include "tests/support/network.hpp"
#include "tests/support/print_units.hpp"
#include "tests/support/recording.hpp"

namespace c3::interconnect_trees_test {

using namespace literals;
using test::Network;

namespace {

Network rails(double oversubscription, int nodes = 4) {
  return {test::node_of_four(), test::tree_of(FabricTopology::leaf_spine, 2, oversubscription), nodes};
}

Network fat_tree(double oversubscription, int nodes = 4) {
  return {test::node_of_four(), test::tree_of(FabricTopology::fat_tree, 8, oversubscription), nodes};
}

}  // namespace

TEST_CASE("rails: traffic on one rail of a group crosses no spine") {
  // Two nodes a group. An uplink of 2 x 50 / 1,000 = 0.1 GB/s would show itself.
  Network network = rails(1000.0);
  for (int rail = 0; rail < 4; ++rail)
    CHECK(network.rate(network.send(rail, 4 + rail)) == near(50e9));
  CHECK(network.interconnect.latency(0, 4).value == near(2 * 0.4e-6 + 1.0e-6 + 0.2e-6));
}

TEST_CASE("rails: another rail, or another group, is behind the leaf's uplinks") {
  // 2 NICs x 50 GB/s over 4 = 25 GB/s out of a leaf.
  for (const int dst : {5, 8}) {
    Network network = rails(4.0);
    CHECK(network.rate(network.send(0, dst)) == near(25e9));
    CHECK(network.interconnect.latency(0, dst).value == near(2 * 0.4e-6 + 1.0e-6 + 3 * 0.2e-6));
  }
}

TEST_CASE("jobs that share an oversubscribed leaf slow each other, those of other leaves do not") {
  // Fat-tree, two nodes a leaf: 8 x 50 / 2 = 200 GB/s up. Job A sends from the four GPUs of node 0 to node 2:
  // all 50 GB/s. With job B's four of node 1 to node 3 each of the eight gets 25. Job C of node 1 stays below
  // the leaf.
  Network network = fat_tree(2.0);
  std::vector<FlowId> job_a, job_b;
  for (int gpu = 0; gpu < 4; ++gpu)
    job_a.push_back(network.send(gpu, 8 + gpu));
  for (const FlowId flow : job_a)
    CHECK(network.rate(flow) == near(50e9));
  for (int gpu = 0; gpu < 4; ++gpu)
    job_b.push_back(network.send(4 + gpu, 12 + gpu));
  for (int gpu = 0; gpu < 4; ++gpu) {
    CHECK(network.rate(job_a[static_cast<std::size_t>(gpu)]) == near(25e9));
    CHECK(network.rate(job_b[static_cast<std::size_t>(gpu)]) == near(25e9));
  }
}

TEST_CASE("a job below one leaf is not slowed by another that fills the leaf's uplinks") {
  Network network = fat_tree(8.0);  // 50 GB/s up
  const FlowId crossing = network.send(0, 8);
  const FlowId more = network.send(1, 9);
  const FlowId below = network.send(2, 6);
  CHECK(network.rate(crossing) == near(25e9));
  CHECK(network.rate(more) == near(25e9));
  CHECK(network.rate(below) == near(50e9));
}

TEST_CASE("many to one leaf share its downlinks") {
  // 8 x 50 / 8 = 50 GB/s down into leaf 0, from leaves 1 and 2 that have as much each.
  Network network = fat_tree(8.0, 6);
  const FlowId a = network.send(8, 0);
  const FlowId b = network.send(16, 1);
  CHECK(network.rate(a) == near(25e9));
  CHECK(network.rate(b) == near(25e9));
}

TEST_CASE("three levels: what leaves a pod shares the pod's uplinks") {
  // One node a leaf, two leaves a pod: 4 x 50 a leaf, 2 x 200 / 8 = 50 GB/s out of a pod.
  Network network(test::node_of_four(), test::tree_of_pods(FabricTopology::fat_tree, 4, 8.0), 4);
  const FlowId within = network.send(0, 4);
  const FlowId out = network.send(1, 8);
  const FlowId out_too = network.send(5, 12);
  CHECK(network.rate(within) == near(50e9));
  CHECK(network.rate(out) == near(25e9));
  CHECK(network.rate(out_too) == near(25e9));
  CHECK(network.interconnect.latency(0, 8) - network.interconnect.latency(0, 4) ==
        0.4_us);  // two switches more
}

TEST_CASE("ecmp: a flow is held by the one uplink that its hash takes") {
  // Two spines: 8 x 50 / 8 / 2 = 25 GB/s an uplink. Lanes differ in their choice, the same lane never does.
  FabricSpec fabric = test::tree_of(FabricTopology::fat_tree, 8, 8.0);
  fabric.routing = FabricRouting::ecmp;
  Network network(test::node_of_four(), fabric, 4);
  CHECK(network.rate(network.send(0, 8)) == near(25e9));
  const auto links_of = [](const Network& routed, int lane) {
    std::vector<ResourceId> links;
    for (const Demand& demand : routed.route(0, 8, 1.0_B, lane))
      links.push_back(demand.resource);
    return links;
  };
  bool differs = false;
  const Network same(test::node_of_four(), fabric, 4);
  fabric.seed = 1;
  const Network other(test::node_of_four(), fabric, 4);
  bool other_differs = false;
  for (int lane = 0; lane < 32; ++lane) {
    CHECK(links_of(network, lane) == links_of(same, lane));
    differs = differs || links_of(network, lane) != links_of(network, 0);
    other_differs = other_differs || links_of(network, lane) != links_of(other, lane);
  }
  CHECK(differs);
  CHECK(other_differs);
}

TEST_CASE("ecmp: a transfer of many flows uses all uplinks") {
  FabricSpec fabric = test::tree_of(FabricTopology::fat_tree, 8, 8.0);
  fabric.routing = FabricRouting::ecmp;
  fabric.flows = 4096;
  Network network(test::node_of_four(), fabric, 4);
  const double rate = network.rate(network.send(0, 8));
  CHECK(rate > 0.95 * 50e9);  // 2,048 +- 32 of the flows on each of two uplinks of 25 GB/s
  CHECK(rate <= 50e9);
}

TEST_CASE("links between switches are resources with names") {
  test::Recording recording;
  FabricSpec fabric = test::tree_of(FabricTopology::leaf_spine, 2, 1.0);
  fabric.routing = FabricRouting::ecmp;
  const Network hashed(test::node_of_four(), fabric, 2, {}, &recording);
  for (const char* name : {"node1.nic3.out", "node0.pcie2.in", "leaf0-spine1", "spine1-leaf3"})
    CHECK(recording.has_resource(name));
}

TEST_CASE("what does not look the same from every rank is not folded") {
  const NodeSpec node = test::node_of_four();
  const auto folds = [&](const FabricSpec& fabric, int nodes) {
    return is_symmetric(NetworkSpec{node, nodes, &fabric});
  };
  FabricSpec rails = test::tree_of(FabricTopology::leaf_spine, 2, 4.0);
  CHECK(folds(rails, 4));
  CHECK(folds(rails, 2));
  CHECK_FALSE(folds(rails, 3));  // the second group has one node
  rails.routing = FabricRouting::ecmp;
  CHECK_FALSE(folds(rails, 4));
  rails.tree.spines = 1;
  CHECK(folds(rails, 4));
  CHECK_FALSE(folds(test::tree_of(FabricTopology::fat_tree, 6, 1.0), 3));  // a node and a half a leaf
  CHECK_FALSE(folds(test::tree_of_pods(FabricTopology::fat_tree, 4, 1.0), 3));
  CHECK(folds(test::small_dragonfly(), 2));  // at one switch
  CHECK_FALSE(folds(test::small_dragonfly(), 3));
  CHECK_FALSE(folds(test::torus_of({2, 2}), 4));
}

}  // namespace c3::interconnect_trees_test
