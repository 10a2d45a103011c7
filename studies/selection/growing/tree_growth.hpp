#pragma once
/// One tree of a boosted sum, grown from gradients.

#include <cstdint>
#include <span>
#include <vector>

#include "gpu/selection/boosted_trees.hpp"

namespace c3 { inline namespace studies {

/// Features of problems in at most kBins bins each, so that a split is looked for among few thresholds.
class BinnedFeatures {
 public:
  static constexpr int kBins = 64;

  /// \param columns shape [features][problems]
  explicit BinnedFeatures(const std::vector<std::vector<float>>& columns);

  int features() const { return static_cast<int>(thresholds_.size()); }
  std::uint8_t bin(std::size_t problem, int feature) const {
    return bins_[problem * thresholds_.size() + static_cast<std::size_t>(feature)];
  }
  /// The largest value in \p bin of \p feature; never asked of the last one.
  float threshold(int feature, int bin) const {
    return thresholds_[static_cast<std::size_t>(feature)][static_cast<std::size_t>(bin)];
  }

 private:
  std::vector<std::vector<float>> thresholds_;  ///< shape [features][bins - 1]
  std::vector<std::uint8_t> bins_;              ///< shape [problems][features]
};

/// A token of a problem with what a small change of its score does to the objective.
struct ScoredToken {
  std::size_t problem;
  int token;
  double gradient;
  double curvature;  ///< > 0
};

struct GrowthLimits {
  int leaves;
  int least_rows;
  double penalty;
  double rate;
};

/// Splits the leaf that gains most, until nothing gains or the limits are met.
/// \param asked the features that may be asked; the token always may
DecisionTree grow_tree(const BinnedFeatures& features, std::span<const ScoredToken> rows,
                       std::span<const int> asked, const GrowthLimits& limits);

}}  // namespace c3::studies
