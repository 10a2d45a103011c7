#pragma once
/// What robust_fit minimises, as a function of the parameters' logarithms. Of use to robust_fit only.

#include <cstddef>
#include <span>
#include <vector>

#include "gpu/calibration/parameter.hpp"

namespace c3 { inline namespace gpu {

/// Keeps the residuals at the current point; a trial replaces them only when accepted. Evaluating allocates
/// nothing. The spans and the function given must outlive it.
class SoftL1Problem {
 public:
  /// \p weights: as of robust_fit, or empty.
  SoftL1Problem(std::span<const Parameter> parameters, std::span<const Seconds> measured,
                std::span<const double> weights, const PredictTimes& predict, double scale);

  std::size_t rows() const { return log_measured_.size(); }
  std::size_t parameters() const { return parameters_.size(); }
  std::span<const double> low() const { return low_; }    ///< of the logarithms
  std::span<const double> high() const { return high_; }  ///< of the logarithms
  std::size_t evaluations() const { return evaluations_; }

  /// The cost at \p logs, which becomes the trial point. \throws std::domain_error
  double try_point(std::span<const double> logs);
  /// The trial point becomes the current one.
  void accept() { residuals_.swap(trial_); }
  /// Jacobian and residuals at the current point \p logs, each row times the square root of its weight there.
  /// Shapes [parameters][rows] and [rows]. Of each entry's forward and backward difference, \p step wide in the
  /// logarithm, the smaller: a row that jumps on one side does not look steep. On a bound, the one inside; a
  /// held parameter's column is 0.
  void linearise(std::span<const double> logs, double step, std::span<double> jacobian,
                 std::span<double> residuals);
  /// Of all rows at the current point: their given weights (sum 1), less where the residual is large.
  double weight() const;
  /// The value of a parameter whose logarithm is \p log, within its bounds and exactly on them.
  double value(std::size_t parameter, double log) const;

 private:
  /// sqrt(f^2 + r^2): |r| with its corner at 0 rounded.
  double rounded_abs(double residual) const;
  double loss(double residual) const;
  /// Of a row in the least squares that touch the loss at its residual r: w rho'(r) / r.
  double weight(std::size_t row) const;
  /// ln(predicted / measured) at \p logs into \p residuals.
  void evaluate(std::span<const double> logs, std::vector<double>& residuals);
  [[noreturn]] void fail(std::size_t row) const;

  std::span<const Parameter> parameters_;
  const PredictTimes& predict_;
  double scale_;
  std::vector<double> low_, high_, log_measured_, weights_;
  std::vector<double> values_;      ///< handed to the caller's function
  std::vector<Seconds> predicted_;  ///< taken from it
  std::vector<double> residuals_, trial_;
  std::vector<double> root_weights_;  ///< of the rows at the current point
  std::vector<double> shifted_;       ///< logarithms, one of them moved
  std::size_t evaluations_ = 0;
};

}}  // namespace c3::gpu
