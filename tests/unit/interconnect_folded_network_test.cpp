// One rank that stands for all of several nodes, against all of them.

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "tests/support/near.hpp"
#include "tests/support/network.hpp"

namespace c3::interconnect_folded_network_test {

using namespace literals;
using test::Network;

namespace {

/// Every rank sends 1 GB to each that is one of \p distances further on, all at the same pace. \returns the
/// time.
double time_of_all(const FabricSpec& fabric, int nodes, const std::vector<int>& distances, bool folded) {
  Network network(test::node_of_four(), fabric, nodes, {.streams = {}, .folded = folded});
  const int ranks = network.interconnect.ranks();
  std::vector<Demand> demands;
  for (int src = 0; src < (folded ? 1 : ranks); ++src) {
    for (const int distance : distances)
      network.interconnect.add_route(demands, 0, src, (src + distance) % ranks, 1.0_GB);
  }
  network.start(0, demands);
  network.simulation.run();
  return network.date(0);
}

std::vector<FabricSpec> fabrics() {
  std::vector<FabricSpec> all;
  for (const int nics : {1, 2, 4, 8}) {
    all.push_back(test::one_switch(nics));
    for (const double oversubscription : {0.5, 4.0, 20.0}) {
      for (const FabricTopology topology : {FabricTopology::leaf_spine, FabricTopology::fat_tree}) {
        const int leaf_nics = topology == FabricTopology::leaf_spine ? 2 : 2 * nics;
        FabricSpec tree = test::tree_of(topology, leaf_nics, oversubscription);
        tree.nics_per_node = nics;
        all.push_back(tree);
      }
    }
  }
  for (const double oversubscription : {2.0, 16.0}) {
    all.push_back(test::tree_of_pods(FabricTopology::fat_tree, 4, oversubscription));
    all.push_back(test::tree_of_pods(FabricTopology::leaf_spine, 2, oversubscription));
  }
  return all;
}

}  // namespace

TEST_CASE("folded: shifts by whole nodes take as long as when all ranks are there") {
  int checked = 0;
  for (const FabricSpec& fabric : fabrics()) {
    for (int distance = 1; distance < 8; ++distance) {
      CAPTURE(fabric.name);
      CAPTURE(fabric.nics_per_node);
      CAPTURE(distance);
      CHECK(time_of_all(fabric, 8, {4 * distance}, true) ==
            near(time_of_all(fabric, 8, {4 * distance}, false), 1e-9));
      ++checked;
    }
  }
  CHECK(checked > 150);
}

TEST_CASE("folded: everybody to everybody takes as long as when all ranks are there") {
  std::vector<int> all;
  for (int distance = 1; distance < 32; ++distance)
    all.push_back(distance);
  for (const FabricSpec& fabric : fabrics()) {
    CAPTURE(fabric.name);
    CAPTURE(fabric.nics_per_node);
    CHECK(time_of_all(fabric, 8, all, true) == near(time_of_all(fabric, 8, all, false), 1e-9));
  }
}

}  // namespace c3::interconnect_folded_network_test
