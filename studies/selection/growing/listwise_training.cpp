#include "studies/selection/growing/listwise_training.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "engine/random.hpp"
#include "studies/selection/growing/tree_growth.hpp"

namespace c3 { inline namespace studies {
namespace {

/// Least curvature of a token: those that are certain still take small steps.
constexpr double kLeastCurvature = 0.02;

/// Exponentials of \p scores over their sum.
std::vector<double> softmax(std::vector<double> scores) {
  const double largest = std::ranges::max(scores);
  double sum = 0.0;
  for (double& score : scores)
    sum += score = std::exp(score - largest);
  for (double& score : scores)
    score /= sum;
  return scores;
}

void check(std::span<const KnownChoice> choices) {
  for (const KnownChoice& choice : choices) {
    const bool fine = choice.features.size() == choices.front().features.size() && !choice.tokens.empty() &&
                      choice.tokens.size() == choice.losses.size() && std::ranges::min(choice.tokens) >= 0 &&
                      std::ranges::max(choice.tokens) < kMostTokensOfChoice;
    if (!fine) throw std::invalid_argument("train_choice: features, tokens or losses do not fit each other");
  }
}

std::vector<std::vector<float>> columns_of(std::span<const KnownChoice> choices) {
  std::vector<std::vector<float>> columns(choices.front().features.size());
  for (std::size_t feature = 0; feature < columns.size(); ++feature)
    for (const KnownChoice& choice : choices)
      columns[feature].push_back(choice.features[feature]);
  return columns;
}

class Training {
 public:
  Training(std::span<const KnownChoice> choices, const TrainingOptions& options)
      : choices_(choices),
        options_(options),
        features_(columns_of(choices)),
        random_(options.seed, "selection") {
    for (const KnownChoice& choice : choices) {
      scores_.emplace_back(choice.tokens.size(), 0.0);
      std::vector<double> negative;
      for (const double loss : choice.losses)
        negative.push_back(-loss / options.temperature);
      targets_.push_back(softmax(std::move(negative)));
    }
  }

  BoostedTrees train() {
    const GrowthLimits limits{.leaves = options_.leaves,
                              .least_rows = options_.least_rows,
                              .penalty = options_.penalty,
                              .rate = options_.rate};
    std::vector<DecisionTree> trees;
    for (int i = 0; i < options_.trees; ++i) {
      const std::vector<ScoredToken> rows = draw_rows();
      if (rows.empty()) break;
      trees.push_back(grow_tree(features_, rows, draw_features(), limits));
      for (std::size_t c = 0; c < choices_.size(); ++c)
        for (std::size_t t = 0; t < choices_[c].tokens.size(); ++t)
          scores_[c][t] += value_of(trees.back(), choices_[c].features, choices_[c].tokens[t]);
    }
    return BoostedTrees(std::move(trees));
  }

 private:
  std::vector<ScoredToken> draw_rows() {
    std::vector<ScoredToken> rows;
    for (std::size_t c = 0; c < choices_.size(); ++c) {
      if (random_.uniform(draws_++) >= options_.problems || choices_[c].tokens.size() < 2) continue;
      const std::vector<double> odds = softmax(scores_[c]);
      for (std::size_t t = 0; t < odds.size(); ++t)
        rows.push_back({.problem = c,
                        .token = choices_[c].tokens[t],
                        .gradient = odds[t] - targets_[c][t],
                        .curvature = std::max(kLeastCurvature, odds[t] * (1.0 - odds[t]))});
    }
    return rows;
  }

  std::vector<int> draw_features() {
    std::vector<int> asked;
    for (int feature = 0; feature < features_.features(); ++feature)
      if (random_.uniform(draws_++) < options_.features) asked.push_back(feature);
    return asked;
  }

  std::span<const KnownChoice> choices_;
  const TrainingOptions& options_;
  BinnedFeatures features_;
  RandomStream random_;
  std::uint64_t draws_ = 0;
  std::vector<std::vector<double>> scores_, targets_;  ///< shape [choices][tokens]
};

}  // namespace

BoostedTrees train_choice(std::span<const KnownChoice> choices, const TrainingOptions& options) {
  if (choices.empty()) return {};
  check(choices);
  return Training(choices, options).train();
}

}}  // namespace c3::studies
