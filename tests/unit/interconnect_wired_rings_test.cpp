// Rings of wired nodes: Hamiltonian, no link direction used beyond its links, and as many as are known to
// exist.

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "configs/presets/preset_store.hpp"
#include "configs/presets/spec_readers.hpp"
#include "configs/toml/section.hpp"
#include "interconnect/interconnect.hpp"
#include "interconnect/wiring.hpp"
#include "tests/support/wired_nodes.hpp"

namespace c3::interconnect_wired_rings_test {

namespace {

using Rings = std::vector<std::vector<int>>;
using Arcs = std::map<std::pair<int, int>, int>;  ///< uses by direction

std::vector<int> all(int gpus) {
  std::vector<int> members(static_cast<std::size_t>(gpus));
  std::iota(members.begin(), members.end(), 0);
  return members;
}

NodeSpec preset(const std::string& name) {
  const Node node = load_preset(PresetKind::node, name, {}, "test");
  Section section(node, "node");
  section.text("gpu");
  section.text("library");
  if (section.has("fabric")) section.text("fabric");
  return read_node(section);
}

Arcs arcs_of(const Rings& rings) {
  Arcs arcs;
  for (const auto& ring : rings) {
    for (std::size_t at = 0; at < ring.size(); ++at)
      ++arcs[{ring[at], ring[(at + 1) % ring.size()]}];
  }
  return arcs;
}

bool visits_all_once(std::vector<int> ring, std::vector<int> members) {
  const bool from_first = ring.front() == members.front();
  std::ranges::sort(ring);
  std::ranges::sort(members);
  return from_first && ring == members;
}

/// The wires between the members themselves suffice.
bool fit_the_links(const NodeSpec& node, const Rings& rings) {
  return std::ranges::all_of(arcs_of(rings), [&](const auto& arc) {
    return arc.second <= links_between(node, arc.first.first, arc.first.second);
  });
}

bool go_both_ways_alike(const Rings& rings) {
  const Arcs arcs = arcs_of(rings);
  return std::ranges::all_of(arcs, [&](const auto& arc) {
    const auto back = arcs.find({arc.first.second, arc.first.first});
    return back != arcs.end() && back->second == arc.second;
  });
}

/// Tries every order of the members.
bool has_a_cycle(const NodeSpec& node, std::vector<int> members) {
  std::sort(members.begin() + 1, members.end());
  do {
    bool closed = true;
    for (std::size_t at = 0; at < members.size() && closed; ++at)
      closed = links_between(node, members[at], members[(at + 1) % members.size()]) > 0;
    if (closed) return true;
  } while (std::next_permutation(members.begin() + 1, members.end()));
  return false;
}

NodeSpec random_node(std::mt19937& random) {
  const int gpus = 3 + static_cast<int>(random() % 6);
  NodeSpec node = test::wired(gpus, {});
  node.hubs = {"switch"};
  for (int a = 0; a < gpus; ++a) {
    node.wires.push_back({a, gpus});
    for (int b = a + 1; b < gpus; ++b) {
      const int links = std::max(0, static_cast<int>(random() % 6) - 2);
      if (links > 0) node.wires.push_back({a, b, links});
    }
  }
  return node;
}

}  // namespace

TEST_CASE("rings of random wired nodes visit each member once, both ways alike, within the links there are") {
  std::mt19937 random(7);
  int over_links = 0, over_routes = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const NodeSpec node = random_node(random);
    std::vector<int> members = all(node.gpus);
    std::ranges::shuffle(members, random);
    members.resize(3 + random() % (members.size() - 2));
    const Rings rings = disjoint_rings(node, members);
    REQUIRE(!rings.empty());
    for (const auto& ring : rings)
      CHECK(visits_all_once(ring, members));
    const bool has_links = rings.size() > 1;
    ++(has_links ? over_links : over_routes);
    CHECK(has_links == has_a_cycle(node, members));
    if (!has_links) continue;
    CHECK(fit_the_links(node, rings));
    CHECK(go_both_ways_alike(rings));
  }
  CHECK(over_links > 20);
  CHECK(over_routes > 20);
}

TEST_CASE("a mesh by wires has all the cycles that a complete graph splits into") {
  // (N-1)/2 of them for odd N; a perfect matching is left for even N (Walecki, 1892). Each goes both ways.
  for (int gpus = 3; gpus <= 9; ++gpus) {
    NodeSpec node = test::wired(gpus, {});
    for (int a = 0; a < gpus; ++a) {
      for (int b = a + 1; b < gpus; ++b)
        node.wires.push_back({a, b});
    }
    CAPTURE(gpus);
    CHECK(static_cast<int>(disjoint_rings(node, all(gpus)).size()) == 2 * ((gpus - 1) / 2));
  }
}

TEST_CASE("a DGX-1 with V100 has six rings over all its NVLinks, as NCCL finds them") {
  const NodeSpec node = preset("v100-sxm2-8");
  const Rings rings = disjoint_rings(node, all(8));
  CHECK(rings.size() == 6);
  CHECK(fit_the_links(node, rings));
  CHECK(go_both_ways_alike(rings));
  for (const auto& ring : rings)
    CHECK(visits_all_once(ring, all(8)));
  // 6 rings x 8 arcs fill 6 links a GPU both ways
  for (const auto& [arc, uses] : arcs_of(rings))
    CHECK(uses == links_between(node, arc.first, arc.second));
}

TEST_CASE("eight MI250X have six rings over their dies, the most that the six links out of an MI250X allow") {
  const NodeSpec node = preset("mi250x-8");
  const Rings rings = disjoint_rings(node, all(16));
  CHECK(rings.size() == 6);
  CHECK(fit_the_links(node, rings));
  CHECK(go_both_ways_alike(rings));
  for (const auto& ring : rings)
    CHECK(visits_all_once(ring, all(16)));
}

TEST_CASE("the ring of a PCIe tree loads every link of it once each way, whatever order the members come in") {
  const NodeSpec node = preset("a100-pcie-4");
  for (const std::vector<int>& members :
       {std::vector{0, 1, 2, 3}, std::vector{0, 2, 1, 3}, std::vector{3, 0, 2, 1}}) {
    const Rings rings = disjoint_rings(node, members);
    REQUIRE(rings.size() == 1);
    CHECK(visits_all_once(rings[0], members));
    const Wiring wiring(node);
    std::map<std::pair<int, bool>, int> uses;
    for (const auto& [arc, times] : arcs_of(rings)) {
      for (const Hop& hop : wiring.route(arc.first, arc.second))
        uses[{hop.wire, hop.backward}] += times;
    }
    CHECK(uses.size() == 2 * node.wires.size());
    for (const auto& [hop, times] : uses)
      CHECK(times == 1);
  }
}

TEST_CASE("two members have a ring for each link between them, or one over the route") {
  const NodeSpec node = preset("mi250x-8");
  CHECK(disjoint_rings(node, std::vector{1, 0}) == Rings(4, {1, 0}));
  CHECK(disjoint_rings(node, std::vector{0, 4}) == Rings(2, {0, 4}));
  CHECK(disjoint_rings(node, std::vector{0, 15}) == Rings{{0, 15}});
  CHECK(disjoint_rings(node, std::vector{5}).empty());
}

TEST_CASE("where links allow one cycle of several, it takes the wide bundles") {
  // gpu3 has one link to each other, so there is one cycle; 0-2 and 2-1 have three links, 0-1 has one.
  const NodeSpec node = test::wired(4, {{0, 1}, {0, 2, 3}, {1, 2, 3}, {0, 3}, {1, 3}, {2, 3}});
  CHECK(disjoint_rings(node, all(4)) == Rings{{0, 2, 1, 3}, {0, 3, 1, 2}});
}

TEST_CASE("a quad of a DGX-1 has rings of its own") {
  // Each GPU has four links in its quad, so there are two cycles, each both ways.
  for (const std::vector<int>& quad : {std::vector{0, 1, 2, 3}, std::vector{6, 5, 4, 7}})
    CHECK(disjoint_rings(preset("v100-sxm2-8"), quad).size() == 4);
}

TEST_CASE("the same rings of a wired node are found every time") {
  for (const char* name : {"v100-sxm2-8", "mi250x-8"}) {
    const NodeSpec node = preset(name);
    CHECK(disjoint_rings(node, all(node.gpus)) == disjoint_rings(node, all(node.gpus)));
  }
}

}  // namespace c3::interconnect_wired_rings_test
