#pragma once
/// Means, quantiles and correlations of lists of numbers. But for correlations, no list may be empty.

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace c3 { inline namespace base {

double mean(std::span<const double> values);

/// \param values above 0
double geometric_mean(std::span<const double> values);

/// Quantile \p share (0 .. 1) of \p values (any order), linear between the two nearest (Hyndman and Fan's
/// type 7, the default of NumPy and pandas).
double quantile(std::vector<double> values, double share);

/// Like quantile(), for \p sorted values, which must ascend.
double quantile_of_sorted(std::span<const double> sorted, double share);

/// Between the two middle values of an even number of them.
double median(std::vector<double> values);

/// The middle value; of an even number of them the lower of the two: one that is there.
template <class T>
T lower_median(std::vector<T> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

/// The middle value; of an even number of them the upper of the two: one that is there.
template <class T>
T upper_median(std::vector<T> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

/// Pearson's correlation of as many numbers each. Absent where all of one side are alike.
std::optional<double> correlation(std::span<const double> a, std::span<const double> b);

/// Spearman's rank correlation, -1 .. 1, where equal values share the mean of their ranks. Absent as
/// correlation. Source: Spearman, "The proof and measurement of association between two things", 1904.
std::optional<double> spearman(std::span<const double> a, std::span<const double> b);

/// Kendall's tau-b, -1 .. 1: the share of pairs that both sides order alike, less that of those which they
/// order oppositely. Absent as correlation. Source: Kendall, "The treatment of ties in ranking problems", 1945.
std::optional<double> kendall_tau(std::span<const double> a, std::span<const double> b);

}}  // namespace c3::base
