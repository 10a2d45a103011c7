// Searches against brute force: random bounds below random costs, told in random order.

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "workloads/tune/candidate_search.hpp"

namespace c3::tune_search_test {

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
  SearchedCandidates candidates() const {
    SearchedCandidates all{.bounds = bounds, .estimates = bounds, .positions = {}};
    for (const double bound : bounds)
      all.positions.push_back({bound / 32.0});
    return all;
  }
  double least() const { return *std::ranges::min_element(costs); }
};

/// Up to \p at_once candidates are in flight; those that end next are drawn from \p order.
void drive(CandidateSearch& search, const std::vector<double>& costs, std::size_t at_once,
           const std::vector<std::uint8_t>& order) {
  std::vector<std::size_t> running;
  for (std::size_t turn = 0;; ++turn) {
    while (running.size() < at_once) {
      const auto candidate = search.ask();
      if (!candidate) break;
      // Nobody is asked for who cannot be better than the best that is known.
      const auto best = search.best();
      const bool may_win = !best || search.bound(*candidate) < *search.cost(*best);
      RC_ASSERT(may_win);
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
    CandidateSearch search(space.candidates());
    drive(search, space.costs, 1 + at_once % 5, order);
    RC_ASSERT(search.best().has_value() == !drawn.empty());
    if (drawn.empty()) return;
    RC_ASSERT(*search.cost(*search.best()) == space.least());
    RC_ASSERT(search.open() == 0U);
    RC_ASSERT(*search.worst_regret() == 0.0);
    RC_ASSERT(search.told() + search.pruned() == drawn.size());
  }));
}

TEST_CASE("property: a search of few candidates is within the regret that it states") {
  CHECK(rc::check([](const std::vector<std::pair<std::uint8_t, std::uint8_t>>& drawn, std::uint8_t budget,
                     std::uint8_t at_once, const std::vector<std::uint8_t>& order) {
    RC_PRE(!drawn.empty());
    const Space space(drawn);
    const std::size_t most = 1 + budget % 8;
    CandidateSearch search(space.candidates(), {.budget = most});
    drive(search, space.costs, 1 + at_once % 5, order);
    RC_ASSERT(search.told() <= most);
    const double best = *search.cost(*search.best());
    RC_ASSERT(best <= space.least() * (1.0 + *search.worst_regret()) * (1.0 + 1e-12));
    RC_ASSERT((search.open() == 0U) == (*search.worst_regret() == 0.0));
    if (search.open() == 0U) RC_ASSERT(best == space.least());
  }));
}

}  // namespace c3::tune_search_test
