// Search by ask and tell: which candidates are asked for, and what is known when the asking ends.

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/near.hpp"
#include "workloads/tune/candidate_search.hpp"
#include "workloads/tune/objective.hpp"

namespace c3::tune_search_test {

namespace {

/// Asks and tells one at a time. \returns who was asked for, in order
std::vector<std::size_t> drive(CandidateSearch& search, const std::vector<double>& costs) {
  std::vector<std::size_t> asked;
  while (const auto candidate = search.ask()) {
    asked.push_back(*candidate);
    search.tell(*candidate, costs[*candidate]);
  }
  return asked;
}

using Numbers = std::vector<std::size_t>;

/// Candidates on a line, estimated at their bounds.
SearchedCandidates on_a_line(const std::vector<double>& bounds) {
  SearchedCandidates candidates{.bounds = bounds, .estimates = bounds, .positions = {}};
  for (std::size_t i = 0; i < bounds.size(); ++i)
    candidates.positions.push_back({static_cast<double>(i)});
  return candidates;
}

}  // namespace

TEST_CASE("candidates come by their estimates until no other one can be better") {
  CandidateSearch search(on_a_line({3.0, 1.0, 2.0, 9.0}));
  // 1 costs 5, so that 2 and 0 may be better and 3 may not. 2 costs 2.5: then 0 may not, either.
  CHECK(drive(search, {4.0, 5.0, 2.5, 9.5}) == Numbers{1, 2});
  CHECK(search.best() == 2U);
  CHECK(search.ranking() == Numbers{2, 1});
  CHECK(search.pruned() == 2U);
  CHECK(search.open() == 0U);
  CHECK(search.worst_regret() == 0.0);
}

TEST_CASE("equals are no better, and among equal costs the first candidate is the best") {
  CandidateSearch search(on_a_line({1.0, 1.0, 2.0}));
  CHECK(drive(search, {2.0, 2.0, 2.0}) == Numbers{0, 1});
  CHECK(search.best() == 0U);
  CandidateSearch other(on_a_line({2.0, 1.0, 1.0}));
  const auto first = other.ask(), second = other.ask();
  other.tell(*second, 3.0);
  other.tell(*first, 3.0);
  CHECK(other.best() == 1U);
}

TEST_CASE("with a budget the regret is what the least bound left allows") {
  CandidateSearch search(on_a_line({1.0, 2.0, 3.0, 8.0}), {.budget = 2});
  CHECK(drive(search, {4.0, 5.0, 3.5, 9.0}) == Numbers{0, 1});
  CHECK(search.best() == 0U);
  CHECK(search.open() == 1U);  // the third; the last cannot be better
  CHECK(search.pruned() == 1U);
  CHECK(*search.worst_regret() == near(4.0 / 3.0 - 1.0));
}

TEST_CASE("who is asked for and not told yet is open, whoever else was told") {
  CandidateSearch search(on_a_line({1.0, 2.0}));
  CHECK(search.ask() == 0U);
  CHECK(search.ask() == 1U);
  CHECK_FALSE(search.ask());
  CHECK_FALSE(search.worst_regret());
  search.tell(1, 4.0);
  CHECK(search.open() == 1U);
  CHECK(*search.worst_regret() == near(3.0));
  search.tell(0, 6.0);
  CHECK(search.best() == 1U);
  CHECK(search.worst_regret() == 0.0);
}

TEST_CASE("a candidate without a cost is out of the race and no best") {
  CandidateSearch search(on_a_line({1.0, 2.0}));
  CHECK(search.ask() == 0U);
  search.tell(0, std::nullopt);
  CHECK_FALSE(search.best());
  CHECK(search.ask() == 1U);
  search.tell(1, 3.0);
  CHECK(search.best() == 1U);
  CHECK(search.told() == 2U);
  CHECK(search.worst_regret() == 0.0);
  CHECK_THROWS_AS(search.tell(1, 3.0), std::logic_error);
}

TEST_CASE("a cost below its bound is counted, and then nothing is said of the regret") {
  CandidateSearch search(on_a_line({4.0, 5.0, 6.0}), {.budget = 1});
  CHECK(drive(search, {3.9, 5.0, 6.0}) == Numbers{0});
  CHECK(search.best() == 0U);
  CHECK(search.broken_bounds() == 1U);
  CHECK_FALSE(search.worst_regret());
}

TEST_CASE("objectives are costs: s, s for each token, GPU-seconds for each token") {
  const CandidateSize size{.tokens = 1000, .gpus = 8};
  const Expense time{.time = Seconds{2.0}};
  CHECK(cost_of(Objective::time, time, size) == near(2.0));
  CHECK(value_of(Objective::time, 2.0) == near(2.0));
  CHECK(cost_of(Objective::tokens_per_s, time, size) == near(0.002));
  CHECK(value_of(Objective::tokens_per_s, 0.002) == near(500.0));
  CHECK(cost_of(Objective::tokens_per_s_per_gpu, time, size) == near(0.016));
  CHECK(value_of(Objective::tokens_per_s_per_gpu, 0.016) == near(62.5));
  CHECK(unit_of(Objective::tokens_per_s_per_gpu) == "tokens/s/GPU");
}

TEST_CASE("money is time by the price of all GPUs, for each token or of the run") {
  const CandidateSize size{.tokens = 4000, .gpus = 8, .usd_per_gpu_hour = 3.0};
  const double usd = 2.0 / 3600 * 24;  // 8 GPUs for 2 s
  CHECK(usd_of(Seconds{2.0}, size) == near(usd));
  CHECK(cost_of(Objective::usd, {.time = Seconds{2.0}}, size) == near(usd));
  CHECK(value_of(Objective::usd, usd) == near(usd));
  CHECK(value_of(Objective::tokens_per_usd, cost_of(Objective::tokens_per_usd, {.time = Seconds{2.0}}, size)) ==
        near(4000 / usd));
  for (const Objective objective : {Objective::usd, Objective::tokens_per_usd})
    CHECK(needs_price(objective));
  CHECK_FALSE(needs_tokens(Objective::usd));
  CHECK_FALSE(needs_price(Objective::tokens_per_s));
}

TEST_CASE("energy is what all boards draw, for each token or of the run") {
  const CandidateSize size{.tokens = 4000, .gpus = 8};
  const Expense takes{.time = Seconds{2.0}, .energy = Joules{500.0}};
  CHECK(cost_of(Objective::energy, takes, size) == near(500));
  CHECK(value_of(Objective::energy, 500.0) == near(500));
  CHECK(value_of(Objective::tokens_per_j, cost_of(Objective::tokens_per_j, takes, size)) == near(8));
  for (const Objective objective : {Objective::energy, Objective::tokens_per_j}) {
    CHECK(needs_power(objective));
    CHECK_FALSE(needs_price(objective));
    CHECK(of_a_run(objective) == Objective::energy);
  }
  CHECK_FALSE(needs_power(Objective::usd));
  const std::vector<Expense> strategies = {
      {Seconds{3.0}, Joules{500}}, {Seconds{2.0}, Joules{600}}, {Seconds{2.0}, Joules{500}}};
  CHECK(cheapest(Objective::energy, strategies, size) == 0);
  CHECK(cheapest(Objective::time, strategies, size) == 1);
  CHECK_FALSE(is_most(Objective::energy));
  CHECK(is_most(Objective::tokens_per_j));
}

TEST_CASE("a cost that is revised is better known, and ranks before costs that are not") {
  CandidateSearch search(on_a_line({1.0, 1.0, 1.0}));
  CHECK_THROWS_AS(search.revise(0, 2.0), std::logic_error);
  drive(search, {3.0, 2.0, 2.5});
  search.revise(1, 4.0);
  search.revise(2, 5.0);
  CHECK(search.ranking() == Numbers{1, 2, 0});
  CHECK(search.best() == 1U);
  CHECK(search.cost(1) == 4.0);
  search.revise(2, 4.5);
  CHECK(search.ranking() == Numbers{2, 1, 0});
  CHECK(search.broken_bounds() == 0U);
  search.revise(2, 0.5);
  CHECK(search.broken_bounds() == 1U);
}

TEST_CASE("candidates that are left out are not asked for, and what they may cost counts") {
  SearchedCandidates candidates = on_a_line({3.0, 1.0, 2.0});
  candidates.left_out = {false, true, false};
  CandidateSearch search(std::move(candidates));
  // 2 is the first by its estimate, and 0, whose bound is 3, can be no better than 2.5.
  CHECK(drive(search, {4.0, 1.5, 2.5}) == Numbers{2});
  CHECK(search.open() == 1U);
  CHECK(search.worst_regret().value() == near(1.5));
  CHECK(search.likely_regret().value() > 0.0);
}

}  // namespace c3::tune_search_test
