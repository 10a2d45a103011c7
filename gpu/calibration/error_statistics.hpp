#pragma once
/// How far predicted times are from measured ones, and how sure one can be of that.
///
/// The error of a row is predicted / measured - 1, a share of the measured time: 0.1 is 10 % too slow, -0.1 is
/// 10 % too fast. Wrong when compared across models of opposite bias: too fast is never worse than -1, too slow
/// has no limit; `bias` weighs a factor and its inverse alike.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "engine/units.hpp"
#include "gpu/calibration/row_groups.hpp"

namespace c3 { inline namespace gpu {

struct ErrorStatistics {
  std::size_t rows = 0;
  double mean_absolute = 0.0;      ///< MAPE, mean of |error|
  double median_absolute = 0.0;    ///< of |error|
  double p90_absolute = 0.0;       ///< nine rows in ten are off by no more than this
  double mean_signed = 0.0;        ///< of the errors
  double median_signed = 0.0;      ///< of the errors
  double bias = 0.0;               ///< mean of ln(predicted / measured): above 0 predictions are too slow
  double within_10_percent = 0.0;  ///< share of rows with |error| <= 0.1
};

/// predicted / measured - 1 of each row, shape [rows]. \throws std::invalid_argument when the spans differ in
/// length or a time is not positive and finite (naming the row).
std::vector<double> relative_errors(std::span<const Seconds> measured, std::span<const Seconds> predicted);

/// \p measured, \p predicted: shape [rows], at least one row. \throws std::invalid_argument as relative_errors,
/// and for no rows.
ErrorStatistics error_statistics(std::span<const Seconds> measured, std::span<const Seconds> predicted);

/// A confidence interval.
struct Interval {
  double low = 0.0;
  double high = 0.0;
};

struct BootstrapOptions {
  std::size_t resamples = 1000;  ///< >= 1
  double confidence = 0.95;      ///< of the interval, between 0 and 1
  std::uint64_t seed = 1;
};

/// Percentile bootstrap by blocks: as many blocks as there are are drawn with replacement, \p statistic is
/// taken of all their rows (a block drawn twice counts twice), and the interval is what the middle `confidence`
/// of the resamples gives. \p blocks: id of each row, shape [rows]; rows of one id (a shape, a GPU) are drawn
/// together, because their errors are alike. Absent when there are fewer than two blocks. Same seed, same
/// interval.
/// Source: Efron and Tibshirani, "An Introduction to the Bootstrap", 1993, 13.3.
/// Wrong when: there are few blocks (below about 20 the interval is too narrow), or blocks are alike.
std::optional<Interval> bootstrap_interval(
    std::span<const std::uint64_t> blocks,
    const std::function<double(std::span<const std::size_t> rows)>& statistic,
    const BootstrapOptions& options = {});

/// bootstrap_interval of the MAPE. \throws std::invalid_argument as relative_errors.
std::optional<Interval> mape_interval(std::span<const Seconds> measured, std::span<const Seconds> predicted,
                                      std::span<const std::uint64_t> blocks,
                                      const BootstrapOptions& options = {});

/// One factor that brings predicted times to measured ones.
struct Scale {
  double factor = 1.0;               ///< measured / predicted
  std::optional<Interval> interval;  ///< of the factor; absent when there are too few rows for it (95 %: 5)
  std::size_t rows = 0;              ///< that it was taken from
};

/// exp of the median of ln(measured / predicted): half of the rows may be wild. The interval is between two
/// order statistics, and covers the median of the ratios with at least \p confidence whatever their
/// distribution.
/// Source: the sign test's interval; Conover, "Practical Nonparametric Statistics", 1999, 3.2.
/// Wrong when: rows are not drawn independently from the kernels that it will be applied to.
/// \throws std::invalid_argument as error_statistics.
Scale scale_of(std::span<const Seconds> measured, std::span<const Seconds> predicted, double confidence = 0.95);

}}  // namespace c3::gpu
