// Constrained beam search over sequences of tokens.

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "gpu/selection/beam_search.hpp"
#include "gpu/selection/kernel_selector.hpp"
#include "studies/selection/growing/selector_training.hpp"

namespace c3::selection_beam_search_test {

namespace {

/// Token t scores \p scores[t], whatever the problem: a chain of questions, one a token.
BoostedTrees fixed_scores(const std::vector<double>& scores) {
  std::vector<DecisionTree> trees;
  for (std::size_t t = 0; t < scores.size(); ++t)
    trees.push_back({{.feature = kToken, .tokens = std::uint64_t{1} << t, .left = 1},
                     {.value = scores[t]},
                     {.value = 0.0}});
  return BoostedTrees(trees);
}

/// \p high for token 1 after token 1, else 0: the token before is the only feature.
BoostedTrees one_after_one(double high) {
  return BoostedTrees({{{.feature = 0, .threshold = 0.5F, .left = 1},
                        {.value = 0.0},
                        {.feature = kToken, .tokens = 0b10, .left = 3},
                        {.value = high},
                        {.value = 0.0}}});
}

}  // namespace

TEST_CASE("only tokens of valid sequences follow a beginning") {
  const ValidSequences valid({{2, 1}, {0, 3}, {2, 0}, {2, 1}});
  CHECK(valid.all().size() == 3);
  CHECK(valid.next({}) == std::vector<int>{0, 2});
  CHECK(valid.next(std::vector{2}) == std::vector<int>{0, 1});
  CHECK(valid.next(std::vector{1}).empty());
  CHECK(valid.next(std::vector{2, 1}).empty());
}

TEST_CASE("the best token is not taken where no valid sequence has it") {
  const BoostedTrees first = fixed_scores({5.0, 0.0, 1.0});
  const BoostedTrees second = fixed_scores({0.0, 9.0});
  const std::vector<const BoostedTrees*> steps = {&first, &second};
  const std::vector<RankedSequence> found = beam_search(steps, {}, ValidSequences({{1, 1}, {2, 0}}), 4);
  REQUIRE(found.size() == 2);
  // Without token 0 the odds of 2 over 1 are e to 1; second tokens have no rival.
  CHECK(found[0].tokens == TokenSequence{2, 0});
  CHECK(found[0].log_probability == doctest::Approx(-std::log(1.0 + std::exp(-1.0))));
  CHECK(found[1].tokens == TokenSequence{1, 1});
}

TEST_CASE("a wide beam finds the sequence that a narrow one has lost") {
  // 0 begins with odds 0.6 and then halves; 1 begins with 0.4 and goes on with nearly 1.
  const BoostedTrees first = fixed_scores({std::log(0.6), std::log(0.4)});
  const BoostedTrees second = one_after_one(10.0);
  const std::vector<const BoostedTrees*> steps = {&first, &second};
  const ValidSequences valid({{0, 0}, {0, 1}, {1, 0}, {1, 1}});
  CHECK(beam_search(steps, {}, valid, 2).front().tokens == TokenSequence{1, 1});
  CHECK(beam_search(steps, {}, valid, 1).front().tokens.front() == 0);
}

TEST_CASE("the odds of all sequences add up to 1 where the beam holds them all") {
  const BoostedTrees first = fixed_scores({1.0, 0.3, -2.0});
  const BoostedTrees second = one_after_one(1.5);
  const std::vector<const BoostedTrees*> steps = {&first, &second};
  double sum = 0.0;
  for (const RankedSequence& ranked :
       beam_search(steps, {}, ValidSequences({{0, 0}, {0, 1}, {1, 1}, {1, 0}, {2, 1}}), 9))
    sum += std::exp(ranked.log_probability);
  CHECK(sum == doctest::Approx(1.0));
}

TEST_CASE("steps learn from the tokens before them") {
  // The second token repeats the first, which is the problem's sign.
  KernelSelector selector{.features = 1, .steps = {{"a", {"x", "y"}, {}}, {"b", {"x", "y"}, {}}}, .valid = {}};
  selector.valid.emplace("kind", ValidSequences({{0, 0}, {0, 1}, {1, 0}, {1, 1}}));
  std::vector<TakenSequence> taken;
  for (int i = 0; i < 200; ++i) {
    const int token = i % 2;
    taken.push_back({.features = {static_cast<float>(token) - 0.5F}, .kind = "kind", .tokens = {token, token}});
  }
  train_steps(selector, taken, {.trees = 40});
  CHECK(selector.rank(std::vector{-0.5F}, "kind", 3).front().tokens == TokenSequence{0, 0});
  CHECK(selector.rank(std::vector{0.5F}, "kind", 3).front().tokens == TokenSequence{1, 1});
  CHECK(selector.rank(std::vector{0.5F}, "kind", 3).size() == 3);
}

}  // namespace c3::selection_beam_search_test
