#include "gpu/selection/boosted_trees.hpp"

#include <algorithm>
#include <cmath>

namespace c3 { inline namespace gpu {

double value_of(const DecisionTree& tree, std::span<const float> features, int token) {
  const TreeNode* node = tree.data();
  while (node->feature != kLeaf) {
    const bool goes_left = node->feature == kToken
                               ? ((node->tokens >> static_cast<unsigned>(token)) & 1U) != 0
                               : features[static_cast<std::size_t>(node->feature)] <= node->threshold;
    node = &tree[static_cast<std::size_t>(node->left + (goes_left ? 0 : 1))];
  }
  return node->value;
}

double BoostedTrees::score(std::span<const float> features, int token) const {
  double sum = 0.0;
  for (const DecisionTree& tree : trees_)
    sum += value_of(tree, features, token);
  return sum;
}

std::vector<double> BoostedTrees::log_probabilities(std::span<const float> features,
                                                    std::span<const int> tokens) const {
  std::vector<double> scores;
  for (const int token : tokens)
    scores.push_back(score(features, token));
  const double largest = std::ranges::max(scores);
  double sum = 0.0;
  for (const double each : scores)
    sum += std::exp(each - largest);
  for (double& each : scores)
    each -= largest + std::log(sum);
  return scores;
}

}}  // namespace c3::gpu
