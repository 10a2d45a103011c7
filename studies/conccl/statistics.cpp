#include "studies/conccl/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "base/statistics.hpp"

namespace c3 { inline namespace studies {
namespace {

double mean(std::span<const PairSpeedup> pairs, const std::function<double(const PairSpeedup&)>& value) {
  double sum = 0.0;
  for (const PairSpeedup& pair : pairs)
    sum += value(pair);
  return sum / static_cast<double>(pairs.size());
}

}  // namespace

PairSpeedup speedup_of(Seconds kernel, Seconds collective, Seconds together) {
  const Seconds serial = kernel + collective;
  return {.ideal = serial / std::max(kernel, collective), .speedup = serial / together};
}

double mean_of_shares(std::span<const PairSpeedup> pairs) { return mean(pairs, &PairSpeedup::share); }

double share_of_means(std::span<const PairSpeedup> pairs) {
  return (mean_speedup(pairs) - 1.0) / (mean_ideal(pairs) - 1.0);
}

double median_share(std::span<const PairSpeedup> pairs) {
  std::vector<double> shares;
  for (const PairSpeedup& pair : pairs)
    shares.push_back(pair.share());
  return median(std::move(shares));
}

double mean_speedup(std::span<const PairSpeedup> pairs) { return mean(pairs, &PairSpeedup::speedup); }
double mean_ideal(std::span<const PairSpeedup> pairs) { return mean(pairs, &PairSpeedup::ideal); }
double max_speedup(std::span<const PairSpeedup> pairs) {
  return std::ranges::max_element(pairs, {}, &PairSpeedup::speedup)->speedup;
}

std::optional<DrawnValue> over_draws(const std::vector<double>& values) {
  if (values.empty()) return std::nullopt;
  return DrawnValue{
      .median = quantile(values, 0.5), .p5 = quantile(values, 0.05), .p95 = quantile(values, 0.95)};
}

double spearman_noise(std::size_t values) {
  constexpr double kTwoSided95 = 1.96;
  return kTwoSided95 / std::sqrt(static_cast<double>(values) - 1.0);
}

}}  // namespace c3::studies
