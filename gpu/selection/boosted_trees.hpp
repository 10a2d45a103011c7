#pragma once
/// Scores of tokens (solvers, sides of a tile, instructions) for a problem, as a sum of decision trees.

#include <cstdint>
#include <span>
#include <vector>

namespace c3 { inline namespace gpu {

/// Tokens of a trained choice are numbered from 0 to kMostTokensOfChoice - 1.
inline constexpr int kMostTokensOfChoice = 64;

/// What a node of a tree asks in place of a feature.
inline constexpr int kLeaf = -1;   ///< nothing: it has a value
inline constexpr int kToken = -2;  ///< which token is scored

struct TreeNode {
  int feature = kLeaf;       ///< place in the problem's features
  float threshold = 0.0F;    ///< goes left when the feature is at most this
  std::uint64_t tokens = 0;  ///< of kToken: bit t is set where token t goes left
  int left = 0;              ///< place in the tree; the right child is the next
  double value = 0.0;        ///< of a leaf
};

/// Root first.
using DecisionTree = std::vector<TreeNode>;

double value_of(const DecisionTree& tree, std::span<const float> features, int token);

class BoostedTrees {
 public:
  BoostedTrees() = default;
  explicit BoostedTrees(std::vector<DecisionTree> trees) : trees_(std::move(trees)) {}

  const std::vector<DecisionTree>& trees() const { return trees_; }

  /// Higher is better; only differences between tokens of one problem mean something.
  double score(std::span<const float> features, int token) const;

  /// Logarithms of the probabilities that each of \p tokens is the best of them. \p tokens: not empty.
  std::vector<double> log_probabilities(std::span<const float> features, std::span<const int> tokens) const;

 private:
  std::vector<DecisionTree> trees_;
};

}}  // namespace c3::gpu
