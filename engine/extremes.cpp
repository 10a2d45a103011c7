#include "engine/extremes.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace c3 { inline namespace engine {
namespace {

/// Simpson's rule over [low, high].
template <class Function>
double integral(double low, double high, Function of) {
  constexpr int kParts = 200;  // even
  const double width = (high - low) / kParts;
  double sum = of(low) + of(high);
  for (int part = 1; part < kParts; ++part)
    sum += (part % 2 == 1 ? 4.0 : 2.0) * of(low + part * width);
  return sum * width / 3.0;
}

/// Probability that the sum of a Poisson number of exponential draws is at most \p sum: over that number k, the
/// chance of k times that of k draws being at most \p sum, which is 1 less a Poisson distribution's first k
/// terms.
double share_below(double sum, double count) {
  double of_number = std::exp(-count);  // of k draws
  double below = of_number;             // none: the sum is 0
  double term = std::exp(-sum), above = 0.0;
  const double most = count + 10.0 * std::sqrt(count) + 20.0;
  for (int k = 1; k < most; ++k) {
    of_number *= count / k;
    above += term;  // sum^j / j! e^-sum of j < k
    term *= sum / k;
    below += of_number * (1.0 - above);
  }
  return std::clamp(below, 0.0, 1.0);
}

}  // namespace

double expected_largest_normal(int n) {
  constexpr double kCut = 3.0;
  const double whole = std::erf(kCut / std::numbers::sqrt2);
  return kCut - integral(-kCut, kCut, [&](double x) {
           return std::pow(0.5 * (1.0 + std::erf(x / std::numbers::sqrt2) / whole), n);
         });
}

// Beyond the end of the integral a sum lies with a probability of 1e-6, by Chernoff's bound.
double expected_largest_stall_sum(double count, int n) {
  constexpr double kLargest = 32.0, kRare = 14.0;
  if (n == 1 || count <= 0.0) return count;
  const double summed = std::min(count, kLargest);
  const double end = std::pow(std::sqrt(summed) + std::sqrt(std::log(n) + kRare), 2);
  const double largest =
      integral(0.0, end, [&](double sum) { return 1.0 - std::pow(share_below(sum, summed), n); });
  return count + (largest - summed) * std::sqrt(count / summed);
}

}}  // namespace c3::engine
