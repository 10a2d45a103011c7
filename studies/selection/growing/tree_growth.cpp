#include "studies/selection/growing/tree_growth.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace c3 { inline namespace studies {
namespace {

/// Bins of the token's histogram, one a token.
constexpr int kBins = BinnedFeatures::kBins;
static_assert(kMostTokensOfChoice <= kBins);
/// Added to the curvature of a token when tokens are put in order, so that rare ones stay in the middle.
constexpr double kRareToken = 10.0;

struct Sums {
  double gradient = 0.0;
  double curvature = 0.0;
  int rows = 0;

  void add(const ScoredToken& row) {
    gradient += row.gradient;
    curvature += row.curvature;
    ++rows;
  }
  Sums& operator+=(const Sums& other) {
    gradient += other.gradient;
    curvature += other.curvature;
    rows += other.rows;
    return *this;
  }
  Sums& operator-=(const Sums& other) {
    gradient -= other.gradient;
    curvature -= other.curvature;
    rows -= other.rows;
    return *this;
  }
  double gain(double penalty) const { return gradient * gradient / (curvature + penalty); }
};

/// Numbers as short as a table of weights keeps them.
double rounded(double value) {
  constexpr double kPlaces = 1e3;
  return std::round(value * kPlaces) / kPlaces;
}

struct LeafSplit {
  double gain = 0.0;
  int feature = kLeaf;
  int bin = 0;
  std::uint64_t tokens = 0;
};

/// Sums of a leaf for each bin of each feature that may be asked, and of the token, which comes last.
using Histograms = std::vector<Sums>;

class Growth {
 public:
  Growth(const BinnedFeatures& features, std::span<const ScoredToken> rows, std::span<const int> asked,
         const GrowthLimits& limits)
      : features_(features), rows_(rows), asked_(asked), limits_(limits) {}

  DecisionTree grow() {
    tree_.emplace_back();
    std::vector<std::size_t> all(rows_.size());
    for (std::size_t i = 0; i < all.size(); ++i)
      all[i] = i;
    Histograms sums = histograms_of(all);
    add_leaf(0, std::move(all), std::move(sums));
    while (static_cast<int>(leaves_.size()) < limits_.leaves) {
      const auto best = std::ranges::max_element(leaves_, {}, [](const Leaf& leaf) { return leaf.split.gain; });
      if (best->split.feature == kLeaf) break;
      split(static_cast<std::size_t>(best - leaves_.begin()));
    }
    for (const Leaf& leaf : leaves_)
      tree_[leaf.node].value = -limits_.rate * leaf.total.gradient / (leaf.total.curvature + limits_.penalty);
    return std::move(tree_);
  }

 private:
  struct Leaf {
    std::size_t node;
    std::vector<std::size_t> rows;
    Histograms histograms;
    Sums total;
    LeafSplit split;
  };

  Histograms histograms_of(const std::vector<std::size_t>& rows) const {
    Histograms sums((asked_.size() + 1) * kBins);
    for (const std::size_t row_number : rows) {
      const ScoredToken& row = rows_[row_number];
      for (std::size_t a = 0; a < asked_.size(); ++a)
        sums[a * kBins + features_.bin(row.problem, asked_[a])].add(row);
      sums[asked_.size() * kBins + static_cast<std::size_t>(row.token)].add(row);
    }
    return sums;
  }

  void add_leaf(std::size_t node, std::vector<std::size_t> rows, Histograms histograms) {
    Leaf leaf{
        .node = node, .rows = std::move(rows), .histograms = std::move(histograms), .total = {}, .split = {}};
    for (std::size_t token = 0; token < kBins; ++token)
      leaf.total += leaf.histograms[asked_.size() * kBins + token];
    for (std::size_t a = 0; a < asked_.size(); ++a)
      try_thresholds(leaf, a);
    try_tokens(leaf);
    leaves_.push_back(std::move(leaf));
  }

  /// Takes the split of \p left from the rest where it gains most so far.
  void offer(Leaf& leaf, const Sums& left, const LeafSplit& split) const {
    Sums right = leaf.total;
    right -= left;
    if (left.rows < limits_.least_rows || right.rows < limits_.least_rows) return;
    const double gain =
        left.gain(limits_.penalty) + right.gain(limits_.penalty) - leaf.total.gain(limits_.penalty);
    if (gain <= leaf.split.gain + 1e-12) return;
    leaf.split = split;
    leaf.split.gain = gain;
  }

  void try_thresholds(Leaf& leaf, std::size_t asked) const {
    Sums left;
    for (int bin = 0; bin + 1 < kBins && left.rows < leaf.total.rows; ++bin) {
      const Sums& in_bin = leaf.histograms[asked * kBins + static_cast<std::size_t>(bin)];
      if (in_bin.rows == 0) continue;
      left += in_bin;
      offer(leaf, left, {.gain = 0.0, .feature = asked_[asked], .bin = bin, .tokens = 0});
    }
  }

  /// Tokens in the order of their best value: the best split in two is between two of them (Fisher 1958).
  void try_tokens(Leaf& leaf) const {
    const auto sums_of = [&](int token) -> const Sums& {
      return leaf.histograms[asked_.size() * kBins + static_cast<std::size_t>(token)];
    };
    std::vector<int> order;
    for (int token = 0; token < kMostTokensOfChoice; ++token)
      if (sums_of(token).rows > 0) order.push_back(token);
    std::ranges::stable_sort(order, {}, [&](int token) {
      return sums_of(token).gradient / (sums_of(token).curvature + kRareToken);
    });
    Sums left;
    std::uint64_t tokens = 0;
    for (const int token : order) {
      left += sums_of(token);
      tokens |= std::uint64_t{1} << static_cast<unsigned>(token);
      offer(leaf, left, {.gain = 0.0, .feature = kToken, .bin = 0, .tokens = tokens});
    }
  }

  bool goes_left(const LeafSplit& split, const ScoredToken& row) const {
    if (split.feature == kToken) return ((split.tokens >> static_cast<unsigned>(row.token)) & 1U) != 0;
    return features_.bin(row.problem, split.feature) <= split.bin;
  }

  void split(std::size_t which) {
    Leaf parent = std::move(leaves_[which]);
    leaves_.erase(leaves_.begin() + static_cast<std::ptrdiff_t>(which));
    std::vector<std::size_t> left, right;
    for (const std::size_t row : parent.rows)
      (goes_left(parent.split, rows_[row]) ? left : right).push_back(row);
    // Only the smaller side is counted; the other has the rest.
    const bool left_is_smaller = left.size() < right.size();
    Histograms smaller = histograms_of(left_is_smaller ? left : right);
    Histograms larger = std::move(parent.histograms);
    for (std::size_t i = 0; i < larger.size(); ++i)
      larger[i] -= smaller[i];

    const std::size_t child = tree_.size();
    TreeNode& node = tree_[parent.node];
    node.feature = parent.split.feature;
    node.tokens = parent.split.tokens;
    node.left = static_cast<int>(child);
    if (node.feature != kToken) node.threshold = features_.threshold(node.feature, parent.split.bin);
    tree_.resize(child + 2);
    add_leaf(child, std::move(left), std::move(left_is_smaller ? smaller : larger));
    add_leaf(child + 1, std::move(right), std::move(left_is_smaller ? larger : smaller));
  }

  const BinnedFeatures& features_;
  std::span<const ScoredToken> rows_;
  std::span<const int> asked_;
  const GrowthLimits& limits_;
  DecisionTree tree_;
  std::vector<Leaf> leaves_;
};

/// Bounds of bins that hold about as many of \p values each, midway between two of them; between all where
/// there are few.
std::vector<float> thresholds_of(std::vector<float> values) {
  std::ranges::sort(values);
  std::vector<float> distinct;
  std::ranges::unique_copy(values, std::back_inserter(distinct));
  std::vector<float> thresholds;
  const auto add_above = [&](std::size_t place) {
    if (place + 1 >= distinct.size()) return;
    const auto threshold = static_cast<float>(rounded((distinct[place] + distinct[place + 1]) / 2.0F));
    if (thresholds.empty() || threshold > thresholds.back()) thresholds.push_back(threshold);
  };
  if (distinct.size() <= kBins) {
    for (std::size_t place = 0; place < distinct.size(); ++place)
      add_above(place);
    return thresholds;
  }
  for (std::size_t bin = 1; bin < kBins; ++bin) {
    const auto place = std::ranges::lower_bound(distinct, values[bin * values.size() / kBins]);
    add_above(static_cast<std::size_t>(place - distinct.begin()));
  }
  return thresholds;
}

}  // namespace

BinnedFeatures::BinnedFeatures(const std::vector<std::vector<float>>& columns) {
  const std::size_t problems = columns.front().size();
  bins_.resize(problems * columns.size());
  for (std::size_t feature = 0; feature < columns.size(); ++feature) {
    thresholds_.push_back(thresholds_of(columns[feature]));
    const std::vector<float>& thresholds = thresholds_.back();
    for (std::size_t problem = 0; problem < problems; ++problem) {
      const auto above = std::ranges::lower_bound(thresholds, columns[feature][problem]);
      bins_[problem * columns.size() + feature] = static_cast<std::uint8_t>(above - thresholds.begin());
    }
  }
}

DecisionTree grow_tree(const BinnedFeatures& features, std::span<const ScoredToken> rows,
                       std::span<const int> asked, const GrowthLimits& limits) {
  return Growth(features, rows, asked, limits).grow();
}

}}  // namespace c3::studies
