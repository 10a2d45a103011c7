// Branch and bound against brute force: random bounds below random costs, told in random order.

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "workloads/tune/bounded_search.hpp"

using namespace c3;

namespace {

/// Bounds and costs of candidates, with ties; cost / bound is 1 to 4.
struct Space {
  std::vector<double> bounds, costs;

  explicit Space(const std::vector<std::pair<std::uint8_t, std::uint8_t>>& drawn) {
    for (const auto& [bound, more] : drawn) {
      bounds.push_back(1.0 + bound % 32);
      costs.push_back(bounds.back() * (1.0 + (more % 13) / 4.0));
    }
  }
  double least() const { return *std::ranges::min_element(costs); }
};

/// Up to \p at_once candidates are in flight; those that end next are drawn from \p order.
void drive(BoundedSearch& search, const std::vector<double>& costs, std::size_t at_once,
           const std::vector<std::uint8_t>& order) {
  std::vector<std::size_t> running;
  for (std::size_t turn = 0;; ++turn) {
    while (running.size() < at_once) {
      const auto candidate = search.ask();
      if (!candidate) break;
      running.push_back(*candidate);
    }
    if (running.empty()) return;
    const std::size_t ends = order.empty() ? 0 : order[turn % order.size()] % running.size();
    search.tell(running[ends], costs[running[ends]]);
    running.erase(running.begin() + static_cast<std::ptrdiff_t>(ends));
  }
}

}  // namespace

TEST_CASE(
    "property: an exact search finds the least cost, however many run at once and in whatever order they end") {
  CHECK(rc::check([](const std::vector<std::pair<std::uint8_t, std::uint8_t>>& drawn, std::uint8_t at_once,
                     const std::vector<std::uint8_t>& order) {
    const Space space(drawn);
    BoundedSearch search(space.bounds);
    drive(search, space.costs, 1 + at_once % 5, order);
    RC_ASSERT(search.best().has_value() == !drawn.empty());
    if (drawn.empty()) return;
    RC_ASSERT(*search.cost(*search.best()) == space.least());
    RC_ASSERT(search.open() == 0U);
    RC_ASSERT(*search.regret() == 0.0);
    RC_ASSERT(search.told() + search.pruned() == drawn.size());
    // Nobody is asked for whose bound is above the least cost, but those that ran beside the best.
    for (std::size_t i = 0; i < drawn.size(); ++i)
      if (1 + at_once % 5 == 1 && search.cost(i)) RC_ASSERT(space.bounds[i] <= space.least());
  }));
}

TEST_CASE("property: a search of few candidates is within the regret that it states") {
  CHECK(rc::check([](const std::vector<std::pair<std::uint8_t, std::uint8_t>>& drawn, std::uint8_t budget,
                     std::uint8_t at_once, const std::vector<std::uint8_t>& order) {
    RC_PRE(!drawn.empty());
    const Space space(drawn);
    const std::size_t most = 1 + budget % 8;
    BoundedSearch search(space.bounds, most);
    drive(search, space.costs, 1 + at_once % 5, order);
    RC_ASSERT(search.told() <= most);
    const double best = *search.cost(*search.best());
    RC_ASSERT(best <= space.least() * (1.0 + *search.regret()) * (1.0 + 1e-12));
    RC_ASSERT((search.open() == 0U) == (*search.regret() == 0.0));
    if (search.open() == 0U) RC_ASSERT(best == space.least());
  }));
}
