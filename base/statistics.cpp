#include "base/statistics.hpp"

#include <cmath>
#include <cstdlib>
#include <numeric>

namespace c3 { inline namespace base {
namespace {

/// Ranks count from 1; equal values share the mean of their ranks.
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

int sign(double value) { return (value > 0.0) - (value < 0.0); }

}  // namespace

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double geometric_mean(std::span<const double> values) {
  double logs = 0.0;
  for (const double value : values)
    logs += std::log(value);
  return std::exp(logs / static_cast<double>(values.size()));
}

double quantile_of_sorted(std::span<const double> sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], place - static_cast<double>(below));
}

double quantile(std::vector<double> values, double share) {
  std::ranges::sort(values);
  return quantile_of_sorted(values, share);
}

double median(std::vector<double> values) { return quantile(std::move(values), 0.5); }

std::optional<double> correlation(std::span<const double> a, std::span<const double> b) {
  const double mean_a = mean(a), mean_b = mean(b);
  double ab = 0.0, aa = 0.0, bb = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ab += (a[i] - mean_a) * (b[i] - mean_b);
    aa += (a[i] - mean_a) * (a[i] - mean_a);
    bb += (b[i] - mean_b) * (b[i] - mean_b);
  }
  if (aa == 0.0 || bb == 0.0) return std::nullopt;
  return ab / std::sqrt(aa * bb);
}

std::optional<double> spearman(std::span<const double> a, std::span<const double> b) {
  return correlation(ranks_of(a), ranks_of(b));
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

}}  // namespace c3::base
