#include "studies/cases/summary.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <span>
#include <utility>

#include "base/percent.hpp"
#include "base/statistics.hpp"

namespace c3 { inline namespace studies {
namespace {

/// Standard deviation of a sample, in per cent of its mean.
double deviation(const std::vector<double>& values) {
  const double middle = mean(values);
  double squares = 0.0;
  for (const double value : values)
    squares += (value - middle) * (value - middle);
  return kPercent * std::sqrt(squares / (static_cast<double>(values.size()) - 1.0)) / middle;
}

}  // namespace

double summary_of(SummaryKind kind, std::vector<double> values) {
  switch (kind) {
    case SummaryKind::mean:
      return mean(values);
    case SummaryKind::median:
      return median(std::move(values));
    case SummaryKind::largest:
      return *std::ranges::max_element(values);
    case SummaryKind::total:
      return std::accumulate(values.begin(), values.end(), 0.0);
    case SummaryKind::geometric_mean:
      return geometric_mean(values);
    case SummaryKind::deviation:
      return deviation(values);
    case SummaryKind::spread:
      return kPercent * (*std::ranges::max_element(values) / *std::ranges::min_element(values) - 1.0);
    case SummaryKind::mean_size:
      break;
  }
  for (double& value : values)
    value = std::abs(value);
  return mean(values);
}

std::optional<Interval> interval_of(SummaryKind kind, const std::vector<double>& values,
                                    const std::vector<std::string>& blocks) {
  std::map<std::string, std::uint64_t> numbers;
  std::vector<std::uint64_t> of_rows;
  for (const std::string& block : blocks)
    of_rows.push_back(numbers.emplace(block, numbers.size()).first->second);
  const auto statistic = [&](std::span<const std::size_t> rows) {
    std::vector<double> drawn;
    for (const std::size_t row : rows)
      drawn.push_back(values[row]);
    return summary_of(kind, std::move(drawn));
  };
  return bootstrap_interval(of_rows, statistic, {.resamples = 400, .confidence = 0.9, .seed = 1});
}

}}  // namespace c3::studies
