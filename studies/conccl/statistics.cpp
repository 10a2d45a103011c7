#include "studies/conccl/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "gpu/calibration/error_statistics.hpp"

namespace c3 { inline namespace studies {
namespace {

double mean(std::span<const PairSpeedup> pairs, const std::function<double(const PairSpeedup&)>& value) {
  double sum = 0.0;
  for (const PairSpeedup& pair : pairs)
    sum += value(pair);
  return sum / static_cast<double>(pairs.size());
}

/// From 1; equal values share the mean of their ranks.
std::vector<double> ranks_of(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](std::size_t i) { return values[i]; });
  std::vector<double> ranks(values.size());
  for (std::size_t first = 0; first < order.size();) {
    std::size_t end = first;
    while (end < order.size() && values[order[end]] == values[order[first]])
      ++end;
    for (std::size_t i = first; i < end; ++i)
      ranks[order[i]] = static_cast<double>(first + end + 1) / 2.0;
    first = end;
  }
  return ranks;
}

/// Pearson's correlation.
std::optional<double> correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const auto count = static_cast<double>(a.size());
  const double mean_a = std::accumulate(a.begin(), a.end(), 0.0) / count;
  const double mean_b = std::accumulate(b.begin(), b.end(), 0.0) / count;
  double ab = 0.0, aa = 0.0, bb = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ab += (a[i] - mean_a) * (b[i] - mean_b);
    aa += (a[i] - mean_a) * (a[i] - mean_a);
    bb += (b[i] - mean_b) * (b[i] - mean_b);
  }
  if (aa == 0.0 || bb == 0.0) return std::nullopt;
  return ab / std::sqrt(aa * bb);
}

int sign(double value) { return (value > 0.0) - (value < 0.0); }

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
  return quantile(std::move(shares), 0.5);
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

std::optional<double> kendall_tau(std::span<const double> a, std::span<const double> b) {
  double agreement = 0.0, untied_a = 0.0, untied_b = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = i + 1; j < a.size(); ++j) {
      const int of_a = sign(a[j] - a[i]), of_b = sign(b[j] - b[i]);
      agreement += of_a * of_b;
      untied_a += std::abs(of_a);
      untied_b += std::abs(of_b);
    }
  }
  if (untied_a == 0.0 || untied_b == 0.0) return std::nullopt;
  return agreement / std::sqrt(untied_a * untied_b);
}

std::optional<double> spearman(std::span<const double> a, std::span<const double> b) {
  if (a.empty()) return std::nullopt;
  return correlation(ranks_of(a), ranks_of(b));
}

double spearman_noise(std::size_t values) {
  constexpr double kTwoSided95 = 1.96;
  return kTwoSided95 / std::sqrt(static_cast<double>(values) - 1.0);
}

}}  // namespace c3::studies
