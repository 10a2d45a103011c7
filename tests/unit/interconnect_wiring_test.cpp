// Routes of wired nodes, against the best of all simple paths.

#include "interconnect/wiring.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <set>
#include <tuple>

#include "tests/support/near.hpp"
#include "tests/support/wired_nodes.hpp"

namespace c3::interconnect_wiring_test {

namespace {

/// What makes one path better than another: the smaller, the better.
using Rank = std::tuple<std::size_t, double, int, std::vector<int>>;

/// Tries every simple path.
class AllPaths {
 public:
  explicit AllPaths(const NodeSpec& node) : node_(node) {}

  std::optional<Rank> best(int src, int dst) {
    best_.reset();
    path_ = {src};
    extend(dst, 1e300);
    return best_;
  }

 private:
  void extend(int dst, double width) {
    if (path_.back() == dst) {
      const auto is_passed_gpu = [&](int vertex) { return vertex < node_.gpus; };
      const auto passed = std::count_if(path_.begin() + 1, path_.end() - 1, is_passed_gpu);
      const Rank rank = {path_.size(), -width, static_cast<int>(passed), path_};
      if (!best_ || rank < *best_) best_ = rank;
      return;
    }
    for (const Wire& wire : node_.wires) {
      for (const auto& [from, to] : {std::pair{wire.a, wire.b}, std::pair{wire.b, wire.a}}) {
        if (from != path_.back() || std::ranges::find(path_, to) != path_.end()) continue;
        path_.push_back(to);
        extend(dst, std::min(width, link_of(node_, wire).one_way.value * wire.count));
        path_.pop_back();
      }
    }
  }

  const NodeSpec& node_;
  std::vector<int> path_;
  std::optional<Rank> best_;
};

std::vector<int> vertices_of(const NodeSpec& node, const std::vector<Hop>& route, int src) {
  std::vector<int> path = {src};
  for (const Hop& hop : route) {
    const Wire& wire = node.wires.at(static_cast<std::size_t>(hop.wire));
    REQUIRE((hop.backward ? wire.b : wire.a) == path.back());
    path.push_back(hop.backward ? wire.a : wire.b);
  }
  return path;
}

std::vector<int> path_of(const NodeSpec& node, int src, int dst) {
  return vertices_of(node, Wiring(node).route(src, dst), src);
}

NodeSpec random_node(std::mt19937& random) {
  const auto up_to = [&](int most) { return static_cast<int>(random() % static_cast<unsigned>(most + 1)); };
  NodeSpec node = test::wired(2 + up_to(4), {});
  for (int hub = up_to(3); hub > 0; --hub)
    node.hubs.push_back("hub" + std::to_string(hub));
  node.other_links = {node.link};
  node.other_links[0].one_way = node.link.one_way * 2.0;
  const int vertices = node.gpus + static_cast<int>(node.hubs.size());
  for (int a = 0; a < vertices; ++a) {
    for (int b = a + 1; b < vertices; ++b) {
      const bool forward = up_to(1) == 1;
      if (up_to(99) < 45) node.wires.push_back({forward ? a : b, forward ? b : a, 1 + up_to(2), up_to(1)});
    }
  }
  return node;
}

}  // namespace

TEST_CASE("routes are the best of all simple paths of random graphs") {
  std::mt19937 random(1);
  int routes = 0, unreachable = 0;
  for (int trial = 0; trial < 400; ++trial) {
    const NodeSpec node = random_node(random);
    const Wiring wiring(node);
    AllPaths all(node);
    for (int src = 0; src < node.gpus; ++src) {
      for (int dst = 0; dst < node.gpus; ++dst) {
        if (src == dst) continue;
        const std::optional<Rank> best = all.best(src, dst);
        REQUIRE(wiring.route(src, dst).empty() == !best);
        ++(best ? routes : unreachable);
        if (!best) continue;
        REQUIRE(vertices_of(node, wiring.route(src, dst), src) == std::get<3>(*best));
        REQUIRE(wiring.width(src, dst).value == -std::get<1>(*best));
      }
    }
  }
  CHECK(routes > 2000);
  CHECK(unreachable > 200);
}

TEST_CASE("a direct link is taken even where a way round is wider") {
  const NodeSpec node = test::wired(3, {{0, 1}, {.a = 0, .b = 2, .count = 4}, {.a = 2, .b = 1, .count = 4}});
  CHECK(path_of(node, 0, 1) == std::vector<int>{0, 1});
}

TEST_CASE("of two ways of equal length the wider is taken, be it by a GPU") {
  NodeSpec node = test::wired(3, {{0, 3}, {1, 3}, {.a = 0, .b = 2, .count = 2}, {.a = 2, .b = 1, .count = 2}});
  node.hubs = {"switch"};
  CHECK(path_of(node, 0, 1) == std::vector<int>{0, 2, 1});
}

TEST_CASE("of two ways alike the one that disturbs no GPU is taken") {
  NodeSpec node = test::wired(3, {{0, 2}, {2, 1}, {0, 3}, {3, 1}});
  node.hubs = {"switch"};
  CHECK(path_of(node, 0, 1) == std::vector<int>{0, 3, 1});
}

TEST_CASE("of wires side by side the widest is taken") {
  NodeSpec node = test::wired(2, {{0, 1}, {.a = 1, .b = 0, .count = 3}});
  const Wiring wiring(node);
  CHECK(wiring.route(0, 1).at(0).wire == 1);
  CHECK(wiring.route(0, 1).at(0).backward);
  CHECK(wiring.width(0, 1).value == near(120e9));
  CHECK(links_between(node, 0, 1) == 4);
}

}  // namespace c3::interconnect_wiring_test
