#pragma once
/// Positive parameters of any model of times, fitted to measured times so that outliers count little.
///
/// Minimises the weighted mean over rows of rho(ln(predicted / measured)), with the soft-L1 loss
/// rho(r) = f^2 (sqrt(1 + (r / f)^2) - 1): r^2 / 2 for errors well below f, f |r| well above. Parameters are
/// searched by their logarithm, inside their bounds, by Levenberg-Marquardt from several starts.
/// README.md has the equations.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "gpu/calibration/parameter.hpp"

namespace c3 { inline namespace gpu {

struct FitOptions {
  double soft_l1_scale = 0.1;  ///< f > 0, in units of ln(predicted / measured): beyond it a row is an outlier
  std::size_t starts = 5;      ///< >= 1: Parameter::start, and others spread evenly over the logarithms
  /// At most, of each start. One calls the model twice a parameter (once on a bound) and once a step tried.
  int iterations = 100;
  double difference_step =
      3e-3;                  ///< relative, of the finite differences; well above the model's rounding errors
  double least_gain = 1e-6;  ///< a step that lowers the cost by less than this share of it is the last
  std::uint64_t seed = 1;    ///< of the other starts
};

enum class Bound : std::uint8_t { none, low, high };

/// Vectors of shape [parameters] are in the order of the parameters given.
struct RobustFit {
  std::vector<double> parameters;  ///< the best found
  std::vector<Bound> bounds;       ///< which sit at a bound, to 0.1 %; `none` for those held
  /// Root mean square over rows of d ln(time) / d ln(parameter), with the weights that rows have at the
  /// minimum: 1, times are in proportion to it; 0, no row depends on it there, and its value is `start` if
  /// that is as good.
  std::vector<double> sensitivities;
  double cost = 0.0;  ///< weighted mean of rho
  /// Shape [starts]: reached from each, before the best is searched further. Alike: they found one minimum.
  std::vector<double> costs;
  std::size_t best_start = 0;
  int iterations = 0;           ///< of the best start, the further search included
  bool converged = false;       ///< false: the best start ran out of iterations
  std::size_t evaluations = 0;  ///< calls of the caller's function, over all starts
};

/// \p measured: shape [rows], > 0. \p weights: shape [rows], >= 0, only their ratios count; empty: all alike.
/// Same arguments, same result.
/// \throws std::invalid_argument for bounds, starts, options, times or weights out of range, naming them, and
/// for fewer rows (of weight > 0) than parameters (not held). \throws std::domain_error when the caller's
/// function gives a time that is not positive and finite, naming the row and the parameters.
/// Wrong when: two parameters act only by their product (costs agree, parameters of equal cost differ); rows
/// are few for the parameters; most rows are outliers.
RobustFit robust_fit(std::span<const Parameter> parameters, std::span<const Seconds> measured,
                     const PredictTimes& predict, const FitOptions& options = {},
                     std::span<const double> weights = {});

}}  // namespace c3::gpu
