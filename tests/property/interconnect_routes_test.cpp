// Routes through switches against a search of the graph that the links' names describe.

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <cmath>

#include <map>
#include <queue>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "interconnect/switch_network.hpp"
#include "tests/support/fabrics.hpp"

namespace c3::interconnect_routes_test {

namespace {

struct Link {
  std::string from, to;
};

/// "leaf0-spine1" and "g0s1-g1s2.3": what follows a dot only tells links side by side apart.
Link parse(const std::string& name) {
  const std::size_t dash = name.find('-');
  return {name.substr(0, dash), name.substr(dash + 1, name.find('.') - dash - 1)};
}

std::vector<Link> links_of(const SwitchNetwork& network) {
  std::vector<Link> links;
  network.add_links([&](const std::string& name, BytesPerSecond) { links.push_back(parse(name)); });
  return links;
}

std::vector<Link> route_of(const SwitchNetwork& network, const std::vector<Link>& links, int src, int dst,
                           std::uint64_t flow) {
  std::vector<Demand> demands;
  Route route(demands, 0);
  network.add_path(route, src, dst, Bytes{1.0}, flow);
  std::vector<Link> taken;
  for (const Demand& demand : demands)
    taken.push_back(links.at(demand.resource));
  return taken;
}

/// The fewest links from each switch to each that is reached.
std::map<std::string, int> distances_from(const std::string& start, const std::vector<Link>& links) {
  std::map<std::string, std::vector<std::string>> next;
  for (const Link& link : links)
    next[link.from].push_back(link.to);
  std::map<std::string, int> distance = {{start, 0}};
  std::queue<std::string> pending({start});
  for (; !pending.empty(); pending.pop()) {
    for (const std::string& to : next[pending.front()]) {
      if (distance.emplace(to, distance[pending.front()] + 1).second) pending.push(to);
    }
  }
  return distance;
}

/// Follows \p route from \p from: up and down a tree the links come as up, across and down, not in order.
bool joins(std::vector<Link> route, std::string from, const std::string& to) {
  while (!route.empty()) {
    bool found = false;
    for (std::size_t i = 0; i < route.size() && !found; ++i) {
      if (route[i].from != from) continue;
      from = route[i].to;
      route.erase(route.begin() + static_cast<std::ptrdiff_t>(i));
      found = true;
    }
    if (!found) return false;
  }
  return from == to;
}

int in(int low, int high) { return *rc::gen::inRange(low, high + 1); }

FabricSpec any_tree() {
  FabricSpec fabric = test::tree_of(*rc::gen::element(FabricTopology::leaf_spine, FabricTopology::fat_tree),
                                    in(1, 5), 1.0 + in(0, 3));
  fabric.routing = FabricRouting::ecmp;
  fabric.nics_per_node = in(1, 5);
  fabric.tree.spines = in(1, 4);
  if (*rc::gen::arbitrary<bool>()) {
    fabric.tree.levels = 3;
    fabric.tree.pod_leaves = in(1, 5);
    fabric.tree.spine_cores = in(1, 3);
  }
  return fabric;
}

std::string leaf_of(const FabricSpec& fabric, int nic) {
  const int m = fabric.nics_per_node;
  if (fabric.topology == FabricTopology::fat_tree) return fmt::format("leaf{}", nic / fabric.tree.leaf_nics);
  return fmt::format("leaf{}", nic / m / fabric.tree.leaf_nics * m + nic % m);  // one for each rail of a group
}

std::string switch_of(const FabricSpec& fabric, int nic) {
  const int group_nics = fabric.dragonfly.switch_nics * fabric.dragonfly.group_switches;
  return fmt::format("g{}s{}", nic / group_nics, nic % group_nics / fabric.dragonfly.switch_nics);
}

}  // namespace

TEST_CASE("property: routes of trees are the shortest there are, and hops() counts them") {
  CHECK(rc::check([] {
    const FabricSpec fabric = any_tree();
    const int nodes = in(2, 12);
    const auto network = make_switch_network(fabric, nodes);
    const std::vector<Link> links = links_of(*network);
    const int src = in(0, nodes * fabric.nics_per_node - 1);
    const int dst = in(0, nodes * fabric.nics_per_node - 1);
    const std::vector<Link> route = route_of(*network, links, src, dst, *rc::gen::arbitrary<std::uint64_t>());
    const std::string from = leaf_of(fabric, src);
    const std::string to = leaf_of(fabric, dst);
    RC_ASSERT(joins(route, from, to));
    RC_ASSERT(static_cast<int>(route.size()) == distances_from(from, links).at(to));
    RC_ASSERT(network->hops(src, dst) == static_cast<int>(route.size()));
  }));
}

TEST_CASE("property: routes of a torus are the shortest there are") {
  CHECK(rc::check([] {
    FabricSpec fabric = test::torus_of({in(1, 5), in(1, 4), in(1, 3)});
    const int nodes = fabric.torus[0] * fabric.torus[1] * fabric.torus[2];
    const auto network = make_switch_network(fabric, nodes);
    const std::vector<Link> links = links_of(*network);
    const int src = in(0, nodes - 1);
    const int dst = in(0, nodes - 1);
    const std::vector<Link> route = route_of(*network, links, src, dst, 0);
    const std::string from = fmt::format("router{}", src);
    const std::string to = fmt::format("router{}", dst);
    RC_ASSERT(joins(route, from, to));
    RC_ASSERT(static_cast<int>(route.size()) == distances_from(from, links).at(to));
    RC_ASSERT(network->hops(src, dst) == static_cast<int>(route.size()));
  }));
}

TEST_CASE("property: routes of a dragonfly join their ends over one global link at most") {
  CHECK(rc::check([] {
    FabricSpec fabric = test::small_dragonfly();
    fabric.routing = FabricRouting::ecmp;
    fabric.dragonfly = {
        .switch_nics = in(1, 3), .group_switches = in(1, 4), .local_links = 1, .global_links = in(1, 3)};
    const int nodes = in(2, 40);
    const auto network = make_switch_network(fabric, nodes);
    const std::vector<Link> links = links_of(*network);
    const int src = in(0, nodes - 1);
    const int dst = in(0, nodes - 1);
    const std::vector<Link> route = route_of(*network, links, src, dst, *rc::gen::arbitrary<std::uint64_t>());
    RC_ASSERT(joins(route, switch_of(fabric, src), switch_of(fabric, dst)));
    int global = 0;
    for (const Link& link : route)
      global += link.from.substr(0, link.from.find('s')) != link.to.substr(0, link.to.find('s')) ? 1 : 0;
    const int group_nics = fabric.dragonfly.switch_nics * fabric.dragonfly.group_switches;
    RC_ASSERT(global == (src / group_nics == dst / group_nics ? 0 : 1));
    RC_ASSERT(static_cast<int>(route.size()) <= network->hops(src, dst));
    RC_ASSERT(network->hops(src, dst) <= 3);
  }));
}

TEST_CASE("property: hashed flows balance over the spines and repeat themselves") {
  CHECK(rc::check([] {
    const int spines = in(2, 16);
    const auto seed = *rc::gen::arbitrary<std::uint64_t>();
    std::vector<int> taken(static_cast<std::size_t>(spines));
    constexpr int kFlows = 8192;
    for (int flow = 0; flow < kFlows; ++flow) {
      const std::uint64_t hash = flow_hash(seed, flow / 64, 1000 + flow % 64, flow % 7, 0);
      RC_ASSERT(hash == flow_hash(seed, flow / 64, 1000 + flow % 64, flow % 7, 0));
      ++taken[hash % static_cast<std::uint64_t>(spines)];
    }
    // Within six standard deviations of a binomial.
    const double mean = double(kFlows) / spines;
    for (const int count : taken)
      RC_ASSERT(std::abs(count - mean) < 6.0 * std::sqrt(mean));
  }));
}

}  // namespace c3::interconnect_routes_test
