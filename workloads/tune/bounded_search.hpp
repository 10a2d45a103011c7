#pragma once
/// Which of many candidates costs least, where the cost of each has a lower bound that is cheap to know.

#include <cstddef>
#include <optional>
#include <vector>

namespace c3::inline workloads {

/// Branch and bound by ask and tell: who searches asks for candidates, finds their costs wherever it likes,
/// several at once if it likes, and tells them. Candidates come in the order of their bounds. No candidate
/// comes whose bound is no better than the best cost that was told, since it cannot be better.
///
/// Without a budget the best candidate of all is found: its cost exceeds the least one by nothing. With one, no
/// more candidates are asked for than that, and regret() says by how much the best may exceed the least.
///
/// A cost below its bound shows that bounds are none: it is counted, and nothing is said of the regret any
/// more. Wrong when: bounds are too high of candidates only that nobody asked for.
class BoundedSearch {
 public:
  /// \param bounds of candidates, not below 0 \param budget most candidates to ask for; absent: no limit
  explicit BoundedSearch(std::vector<double> bounds, std::optional<std::size_t> budget = std::nullopt);

  /// The next candidate to find the cost of; absent where none is wanted, or none until one is told.
  std::optional<std::size_t> ask();
  /// Of a candidate that was asked for, once. \param cost above 0; absent: it has none, and is out of the race
  void tell(std::size_t candidate, std::optional<double> cost);

  /// Candidates with a cost, the best first, among equals in the order of their numbers.
  std::vector<std::size_t> ranking() const;
  std::optional<std::size_t> best() const { return best_; }
  std::optional<double> cost(std::size_t candidate) const { return costs_[candidate]; }
  double bound(std::size_t candidate) const { return bounds_[candidate]; }

  std::size_t told() const { return told_; }
  /// Candidates that nobody told, and that can be no better than the best.
  std::size_t pruned() const;
  /// Candidates that nobody told, and that may be better than the best.
  std::size_t open() const;
  /// By how much the best may cost more than the least of all candidates, as a share of that: 0 where none is
  /// open. Absent without a best, and after a cost below its bound.
  std::optional<double> regret() const;
  /// Candidates whose cost was below their bound.
  std::size_t broken_bounds() const { return broken_; }

 private:
  /// Whether \p candidate may be better than the best that was told.
  bool may_win(std::size_t candidate) const { return !best_ || bound(candidate) < *costs_[*best_]; }
  std::vector<std::size_t> untold() const;

  std::vector<double> bounds_;
  std::vector<std::size_t> order_;  ///< by bound
  std::optional<std::size_t> budget_;
  std::size_t asked_ = 0;  ///< of order_: those before it
  std::vector<bool> is_told_;
  std::vector<std::optional<double>> costs_;
  std::optional<std::size_t> best_;
  std::size_t told_ = 0, broken_ = 0;
};

}  // namespace c3::workloads
