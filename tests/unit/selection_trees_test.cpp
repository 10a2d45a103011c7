// Boosted trees that choose among tokens: how a tree is read, and what training learns.

#include <doctest/doctest.h>

#include <cmath>
#include <stdexcept>
#include <vector>

#include "engine/random.hpp"
#include "gpu/selection/boosted_trees.hpp"
#include "studies/selection/growing/listwise_training.hpp"

namespace c3::selection_trees_test {

namespace {

/// x in -1 .. 1, y in -1 .. 1, and noise: token 0 is best where x and y have one sign, token 1 elsewhere; token
/// 2 never. What is wrong takes twice as long.
std::vector<KnownChoice> by_sign(std::size_t count, std::uint64_t seed) {
  const RandomStream random(seed, "test");
  std::vector<KnownChoice> choices;
  for (std::size_t i = 0; i < count; ++i) {
    const auto draw = [&](std::uint64_t which) {
      return static_cast<float>(2.0 * random.uniform(3 * i + which) - 1.0);
    };
    const float x = draw(0), y = draw(1);
    const bool first = x * y > 0.0F;
    const double wrong = std::log(2.0);
    choices.push_back({.features = {x, y, draw(2)},
                       .tokens = {0, 1, 2},
                       .losses = {first ? 0.0 : wrong, first ? wrong : 0.0, wrong}});
  }
  return choices;
}

double share_right(const BoostedTrees& trees, const std::vector<KnownChoice>& choices) {
  double right = 0.0;
  for (const KnownChoice& choice : choices) {
    std::size_t best = 0;
    for (std::size_t t = 1; t < choice.tokens.size(); ++t)
      if (trees.score(choice.features, choice.tokens[t]) > trees.score(choice.features, choice.tokens[best]))
        best = t;
    right += choice.losses[best] == 0.0 ? 1.0 : 0.0;
  }
  return right / static_cast<double>(choices.size());
}

/// Best is left of 0.5, for token 1 only.
BoostedTrees small_tree() {
  return BoostedTrees({{{.feature = 1, .threshold = 0.5F, .left = 1},
                        {.feature = kToken, .tokens = 0b10, .left = 3},
                        {.value = -1.0},
                        {.value = 2.0},
                        {.value = 0.5}}});
}

}  // namespace

TEST_CASE("a tree asks features and the token, and at most the threshold goes left") {
  const BoostedTrees trees = small_tree();
  const std::vector<float> at = {9.0F, 0.5F};
  const std::vector<float> above = {0.0F, 0.51F};
  CHECK(trees.score(at, 1) == 2.0);
  CHECK(trees.score(at, 0) == 0.5);
  CHECK(trees.score(above, 1) == -1.0);
}

TEST_CASE("probabilities of the tokens of a problem add up to 1") {
  // Scores 2 and 0.5: e^1.5 to 1.
  const std::vector<double> odds =
      small_tree().log_probabilities(std::vector<float>{0.0F, 0.0F}, std::vector<int>{1, 0});
  CHECK(std::exp(odds[0]) + std::exp(odds[1]) == doctest::Approx(1.0));
  CHECK(odds[0] - odds[1] == doctest::Approx(1.5));
}

TEST_CASE("training finds a rule of two features, for problems that it has not seen") {
  // No single threshold is better than chance, which is half.
  const BoostedTrees trees = train_choice(by_sign(1500, 1), {.trees = 60});
  CHECK(share_right(trees, by_sign(1000, 2)) > 0.95);
}

TEST_CASE("one seed makes the same trees, another makes others") {
  const std::vector<KnownChoice> choices = by_sign(200, 1);
  const auto score = [&](std::uint64_t seed) {
    return train_choice(choices, {.trees = 5, .seed = seed}).score(choices.front().features, 0);
  };
  CHECK(score(1) == score(1));
  CHECK(score(1) != score(2));
}

TEST_CASE("tokens whose times hardly differ end with about the same odds, far slower ones with none") {
  // With temperature 0.1 a loss of 0.01 has e^-0.1 = 0.905 of the best one's odds.
  const std::vector<KnownChoice> choices(
      400, {.features = {0.0F}, .tokens = {0, 1, 2}, .losses = {0.0, 0.01, kWrong}});
  const std::vector<double> odds =
      train_choice(choices, {.trees = 300}).log_probabilities(choices.front().features, choices.front().tokens);
  CHECK(std::exp(odds[1] - odds[0]) == doctest::Approx(0.905).epsilon(0.03));
  CHECK(std::exp(odds[2]) < 0.01);
}

TEST_CASE("a token that is always the best is learned from 40 problems that have it") {
  std::vector<KnownChoice> choices = by_sign(300, 1);
  for (std::size_t i = 0; i < 40; ++i) {  // token 3 is always the best where it can be chosen
    choices[i].tokens.push_back(3);
    choices[i].losses = {1.0, 1.0, 1.0, 0.0};
  }
  const BoostedTrees trees = train_choice(choices, {.trees = 60});
  const std::vector<double> odds = trees.log_probabilities(choices[50].features, std::vector<int>{0, 1, 3});
  CHECK(std::exp(odds[2]) > 0.9);
}

TEST_CASE(
    "no leaf has fewer rows than least_rows: single problems at either end are not told from the others") {
  std::vector<KnownChoice> choices(200, {.features = {0.0F}, .tokens = {0, 1}, .losses = {0.0, kWrong}});
  choices.push_back({.features = {-1.0F}, .tokens = {0, 1}, .losses = {kWrong, 0.0}});
  choices.push_back({.features = {1.0F}, .tokens = {0, 1}, .losses = {kWrong, 0.0}});
  for (const float end : {-1.0F, 1.0F}) {
    const auto prefers = [&](int least_rows) {
      const BoostedTrees trees =
          train_choice(choices, {.trees = 60, .least_rows = least_rows, .features = 1.0});
      return trees.score(std::vector{end}, 1) > trees.score(std::vector{end}, 0) ? 1 : 0;
    };
    CHECK(prefers(10) == 0);
    CHECK(prefers(1) == 1);
  }
}

TEST_CASE("choices that do not fit each other are refused") {
  const std::vector<KnownChoice> other_size = {{.features = {1.0F}, .tokens = {0}, .losses = {0.0}},
                                               {.features = {}, .tokens = {0}, .losses = {0.0}}};
  CHECK_THROWS_AS(train_choice(other_size, {}), std::invalid_argument);
  const std::vector<KnownChoice> beyond = {
      {.features = {1.0F}, .tokens = {kMostTokensOfChoice}, .losses = {0.0}}};
  CHECK_THROWS_AS(train_choice(beyond, {}), std::invalid_argument);
  CHECK(train_choice({}, {}).trees().empty());
}

}  // namespace c3::selection_trees_test
