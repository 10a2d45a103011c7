// Replay of a graph against repeated relaxation of all its edges; decimal times against a plain division.

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include "workloads/traces/dependency_graph.hpp"

namespace c3::traces_replay_test {

namespace {

struct TestEdge {
  PointId from;
  PointId to;
  Picoseconds lag;
};

/// Relaxes every edge until nothing changes.
std::vector<Picoseconds> relaxed(std::size_t points, const std::vector<TestEdge>& edges) {
  constexpr Picoseconds kNever{std::numeric_limits<std::int64_t>::min()};
  std::vector<Picoseconds> dates(points, kNever);
  std::vector<bool> has_cause(points, false);
  for (const TestEdge& edge : edges)
    has_cause[edge.to] = true;
  for (std::size_t point = 0; point < points; ++point) {
    if (!has_cause[point]) dates[point] = {};
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (const TestEdge& edge : edges) {
      if (dates[edge.from] == kNever) continue;
      const Picoseconds date{dates[edge.from].count + edge.lag.count};
      if (dates[edge.to] < date) {
        dates[edge.to] = date;
        changed = true;
      }
    }
  }
  return dates;
}

}  // namespace

TEST_CASE("property: a replay gives every point the date that relaxing all edges gives it") {
  CHECK(rc::check([] {
    const auto points = *rc::gen::inRange<PointId>(2, 40);
    const auto count = *rc::gen::inRange(0, 120);
    DependencyGraph graph;
    for (PointId point = 1; point < points; ++point)
      graph.add_point({});
    std::vector<TestEdge> edges;
    for (int i = 0; i < count; ++i) {
      const auto from = *rc::gen::inRange<PointId>(0, points - 1);
      const auto to = *rc::gen::inRange<PointId>(from + 1, points);  // never backwards: no cycle
      const Picoseconds lag{*rc::gen::inRange<std::int64_t>(-5'000'000, 1'000'000'000)};
      edges.push_back({.from = from, .to = to, .lag = lag});
      graph.add_edge(from, to, lag, LagKind::host);
    }
    RC_ASSERT(graph.replay() == relaxed(points, edges));
  }));
}

TEST_CASE("property: microseconds with up to six decimals are read exactly") {
  CHECK(rc::check([](std::uint64_t whole, std::uint32_t fraction) {
    const std::uint32_t decimals = fraction % 1'000'000;
    std::string tail = std::to_string(decimals);
    tail.insert(0, 6 - tail.size(), '0');
    const auto read = parse_microseconds(std::to_string(whole) + "." + tail);
    RC_ASSERT(read.has_value());
    RC_ASSERT(*read == WidePicoseconds{whole} * 1'000'000 + decimals);
  }));
}

}  // namespace c3::traces_replay_test
