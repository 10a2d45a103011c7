// Big networks are built fast and small: routes are arithmetic, and nothing grows with the pairs of ranks.

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <ctime>
#include <vector>

#include "tests/support/network.hpp"

namespace c3::interconnect_scale_test {

using namespace literals;
using test::Network;

namespace {

double most_memory() {  // bytes, of the process so far
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return 1024.0 * static_cast<double>(usage.ru_maxrss);
}

}  // namespace

TEST_CASE("100,000 GPUs with their NICs and switches are built in under 5 s of CPU time and 1 GB") {
  NodeSpec node = test::switched(8);
  node.nic_slots = 8;
  node.pcie = test::node_of_four().pcie;
  std::vector<FabricSpec> fabrics = {test::tree_of_pods(FabricTopology::leaf_spine, 32, 2.0),
                                     test::tree_of_pods(FabricTopology::fat_tree, 32, 2.0),
                                     test::small_dragonfly(), test::torus_of({25, 25, 20})};
  fabrics[1].routing = FabricRouting::ecmp;
  fabrics[2].dragonfly = {.switch_nics = 16, .group_switches = 32, .local_links = 1, .global_links = 4};
  for (FabricSpec& fabric : fabrics) {
    CAPTURE(fabric.name);
    fabric.nics_per_node = 8;
    fabric.tree.pod_leaves = 32;
    const double memory = most_memory();
    const std::clock_t start = std::clock();
    const Network network(node, fabric, 12'500);
    CHECK(network.interconnect.ranks() == 100'000);
    CHECK(network.route(0, 99'999, 1.0_GB).size() > 10);
    CHECK(double(std::clock() - start) / CLOCKS_PER_SEC < 5.0);
    CHECK(most_memory() - memory < 1e9);
  }
}

}  // namespace c3::interconnect_scale_test
