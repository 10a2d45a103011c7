#pragma once
/// Which of many candidates costs least, where little is cheap to know of each.

#include <cstddef>
#include <optional>
#include <vector>

#include "workloads/tune/surrogate.hpp"

namespace c3 { inline namespace workloads {

/// What is known of candidates, by candidate.
struct SearchedCandidates {
  std::vector<double> bounds;                  ///< of costs, from below, not below 0
  std::vector<double> estimates;               ///< of costs, above 0
  std::vector<std::vector<double>> positions;  ///< see Surrogate
  std::vector<bool> left_out = {};             ///< nobody asks for them, and regrets count them; empty: none
};

/// Limits at which a search ends; it also ends when no other candidate can be better.
struct SearchLimits {
  std::optional<std::size_t> budget = std::nullopt;  ///< most candidates to ask for
  std::optional<double> regret = std::nullopt;       ///< a likely_regret() that is small enough
};

/// Search by ask and tell: who searches asks for candidates, finds their costs wherever it likes, several at
/// once if it likes, and tells them. The first is that of the least estimate. Then a surrogate learns by how
/// much costs exceed estimates, and the candidate comes that is likeliest to be better than the best. None
/// comes whose bound is no better than the best cost that was told, since it cannot be better.
///
/// A cost below its bound shows that bounds are none: it is counted, and nothing is said of the regret any
/// more. Wrong when: bounds are too high of candidates only that nobody asked for.
class CandidateSearch {
 public:
  /// With this probability the best exceeds the least of all by likely_regret() at most.
  static constexpr double kConfidence = 0.95;

  explicit CandidateSearch(SearchedCandidates candidates, SearchLimits limits = {});

  /// The next candidate to find the cost of; absent where none is wanted, or none until one is told.
  std::optional<std::size_t> ask();
  /// Tells the cost of a candidate that was asked for, once. \param cost above 0; absent: it has none, and is
  /// out of the race
  void tell(std::size_t candidate, std::optional<double> cost);

  /// A better known \p cost of a candidate that has one. Those whose cost was revised more often are better
  /// known, and rank before others.
  void revise(std::size_t candidate, double cost);

  /// Candidates with a cost, the best first, among equals in the order of their numbers.
  std::vector<std::size_t> ranking() const;
  std::optional<std::size_t> best() const { return best_; }
  std::optional<double> cost(std::size_t candidate) const { return costs_[candidate]; }
  double bound(std::size_t candidate) const { return candidates_.bounds[candidate]; }

  std::size_t told() const { return told_; }
  /// Candidates that nobody told, and that can be no better than the best.
  std::size_t pruned() const;
  /// Candidates that nobody told, and that may be better than the best.
  std::size_t open() const;
  /// Share by which the best may cost more than the least of all candidates, according to their bounds: 0 where
  /// none is open. Absent without a best, and after a cost below its bound.
  std::optional<double> worst_regret() const;
  /// The same by the surrogate, no more than the worst. Costs of open candidates are taken as independent.
  std::optional<double> likely_regret();
  /// Candidates whose cost was below their bound.
  std::size_t broken_bounds() const { return broken_; }

 private:
  using Numbers = std::vector<std::size_t>;

  /// Whether \p candidate may be better than the best that was told.
  bool may_win(std::size_t candidate) const { return !best_ || bound(candidate) < *costs_[*best_]; }
  Numbers untold() const;
  /// Candidates that may win and that nobody asked for yet.
  Numbers unasked() const;
  std::size_t likeliest(const Numbers& candidates);
  /// Likely regret over all candidates if nobody but \p open may be better. \pre there is a best
  double likely_regret(const Numbers& open);
  void learn();

  SearchedCandidates candidates_;
  SearchLimits limits_;
  std::vector<bool> is_asked_, is_told_;
  std::vector<std::optional<double>> costs_;
  std::vector<int> revisions_;
  std::optional<std::size_t> best_;
  std::size_t asked_ = 0, told_ = 0, broken_ = 0;

  Surrogate surrogate_;
  Numbers learnt_;                       ///< in the order of tells
  bool is_learnt_ = false;               ///< all of learnt_
  std::vector<Prediction> predictions_;  ///< of logarithms of costs, by candidate
};

}}  // namespace c3::workloads
