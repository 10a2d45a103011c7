#include "gpu/calibration/error_statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "base/statistics.hpp"

namespace c3 { inline namespace gpu {
namespace {

bool is_time(Seconds time) { return time.value > 0.0 && std::isfinite(time.value); }

/// How many of the lowest of \p count order statistics lie outside the median's interval, as many again above:
/// the largest n with P(at most n - 1 heads in `count` tosses) <= outside / 2.
std::size_t order_statistics_outside(std::size_t count, double outside) {
  const auto log_factorial = [](std::size_t n) { return std::lgamma(static_cast<double>(n) + 1.0); };
  const double tosses = static_cast<double>(count) * std::log(0.5);
  double probability = 0.0;
  for (std::size_t heads = 0; heads < count; ++heads) {
    probability +=
        std::exp(log_factorial(count) - log_factorial(heads) - log_factorial(count - heads) + tosses);
    if (probability > outside / 2.0) return heads;
  }
  return count;
}

}  // namespace

std::vector<double> relative_errors(std::span<const Seconds> measured, std::span<const Seconds> predicted) {
  if (measured.size() != predicted.size()) {
    throw std::invalid_argument(
        fmt::format("relative_errors: {} measured times and {} predicted", measured.size(), predicted.size()));
  }
  std::vector<double> errors(measured.size());
  for (std::size_t row = 0; row < errors.size(); ++row) {
    if (!is_time(measured[row]) || !is_time(predicted[row])) {
      throw std::invalid_argument(fmt::format("relative_errors: row {}: measured {} s, predicted {} s", row,
                                              measured[row].value, predicted[row].value));
    }
    errors[row] = predicted[row] / measured[row] - 1.0;
  }
  return errors;
}

ErrorStatistics error_statistics(std::span<const Seconds> measured, std::span<const Seconds> predicted) {
  std::vector<double> errors = relative_errors(measured, predicted);
  if (errors.empty()) throw std::invalid_argument("error_statistics: no rows");
  ErrorStatistics result{.rows = errors.size(), .mean_signed = mean(errors)};
  for (const double error : errors)
    result.bias += std::log1p(error);
  result.bias /= static_cast<double>(errors.size());
  result.median_signed = quantile(errors, 0.5);

  for (double& error : errors)
    error = std::abs(error);
  result.mean_absolute = mean(errors);
  std::ranges::sort(errors);
  result.median_absolute = quantile_of_sorted(errors, 0.5);
  result.p90_absolute = quantile_of_sorted(errors, 0.9);
  const auto within = std::ranges::upper_bound(errors, 0.1) - errors.begin();
  result.within_10_percent = static_cast<double>(within) / static_cast<double>(errors.size());
  return result;
}

std::optional<Interval> bootstrap_interval(
    std::span<const std::uint64_t> blocks,
    const std::function<double(std::span<const std::size_t> rows)>& statistic,
    const BootstrapOptions& options) {
  const std::vector<Rows> groups = rows_by_id(blocks);
  if (groups.size() < 2) return std::nullopt;
  const RandomStream random(options.seed, "bootstrap");
  std::vector<double> results(options.resamples);
  Rows drawn;
  std::uint64_t draw = 0;
  for (double& result : results) {
    drawn.clear();
    for (std::size_t i = 0; i < groups.size(); ++i) {
      const double place = random.uniform(draw++) * static_cast<double>(groups.size());
      const Rows& group = groups[static_cast<std::size_t>(place)];
      drawn.insert(drawn.end(), group.begin(), group.end());
    }
    result = statistic(drawn);
  }
  std::ranges::sort(results);
  const double tail = (1.0 - options.confidence) / 2.0;
  return Interval{quantile_of_sorted(results, tail), quantile_of_sorted(results, 1.0 - tail)};
}

std::optional<Interval> mape_interval(std::span<const Seconds> measured, std::span<const Seconds> predicted,
                                      std::span<const std::uint64_t> blocks, const BootstrapOptions& options) {
  const std::vector<double> errors = relative_errors(measured, predicted);
  const auto mape = [&errors](std::span<const std::size_t> rows) {
    double sum = 0.0;
    for (const std::size_t row : rows)
      sum += std::abs(errors[row]);
    return sum / static_cast<double>(rows.size());
  };
  return bootstrap_interval(blocks, mape, options);
}

Scale scale_of(std::span<const Seconds> measured, std::span<const Seconds> predicted, double confidence) {
  std::vector<double> logs = relative_errors(measured, predicted);
  if (logs.empty()) throw std::invalid_argument("scale_of: no rows");
  for (double& log : logs)
    log = -std::log1p(log);
  std::ranges::sort(logs);
  Scale scale{.factor = std::exp(quantile_of_sorted(logs, 0.5)), .interval = {}, .rows = logs.size()};
  const std::size_t outside = order_statistics_outside(logs.size(), 1.0 - confidence);
  if (outside > 0)
    scale.interval = Interval{std::exp(logs[outside - 1]), std::exp(logs[logs.size() - outside])};
  return scale;
}

}}  // namespace c3::gpu
