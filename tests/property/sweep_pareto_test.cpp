// The front of many points against a comparison of each with each.

#include "results/sweep/pareto.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace c3::sweep_pareto_test {

namespace {

bool beats(const Costs& a, const Costs& b) { return a.x <= b.x && a.y <= b.y && (a.x < b.x || a.y < b.y); }

}  // namespace

TEST_CASE("property: the front is what no point beats, by rising x") {
  CHECK(rc::check([](const std::vector<std::pair<unsigned char, unsigned char>>& drawn) {
    std::vector<Costs> points;
    for (const auto& [x, y] : drawn)
      points.push_back({static_cast<double>(x % 16), static_cast<double>(y % 16)});  // with ties
    const std::vector<std::size_t> front = pareto_front(points);
    for (std::size_t i = 0; i < points.size(); ++i) {
      const bool is_beaten =
          std::ranges::any_of(points, [&](const Costs& other) { return beats(other, points[i]); });
      RC_ASSERT(std::ranges::count(front, i) == (is_beaten ? 0 : 1));
    }
    RC_ASSERT(std::ranges::is_sorted(front, {}, [&](std::size_t i) { return points[i].x; }));
  }));
}

}  // namespace c3::sweep_pareto_test
