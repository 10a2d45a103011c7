#include "workloads/sampling/confidence.hpp"

#include <cmath>
#include <numbers>

namespace c3 { inline namespace sampling {

namespace {

/// Probability that Student's variable of \p degrees lies within +-sqrt(degrees) tan(\p angle), by Abramowitz
/// and Stegun, Handbook of Mathematical Functions, 26.7.3 and 26.7.4.
double within_angle(double angle, int degrees) {
  const double cosine = std::cos(angle);
  const bool is_odd = degrees % 2 == 1;
  double term = is_odd ? cosine : 1.0, sum = 0.0;
  for (int i = is_odd ? 3 : 2; i <= degrees; i += 2) {
    sum += term;
    term *= (i - 1.0) / i * cosine * cosine;
  }
  if (!is_odd) return std::sin(angle) * sum;
  return 2.0 / std::numbers::pi * (angle + std::sin(angle) * sum);
}

/// The point between \p low and \p high where \p probability, which grows, is \p confidence.
template <class Probability>
double bisected(double confidence, double low, double high, Probability probability) {
  for (int i = 0; i < 100; ++i) {
    const double middle = 0.5 * (low + high);
    (probability(middle) < confidence ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

}  // namespace

double normal_quantile(double confidence) {
  // erf is 1 in double precision long before 40.
  return bisected(confidence, 0.0, 40.0, [](double z) { return std::erf(z / std::numbers::sqrt2); });
}

double student_probability(double t, int degrees) {
  return within_angle(std::atan(t / std::sqrt(static_cast<double>(degrees))), degrees);
}

double student_quantile(double confidence, int degrees) {
  const double angle = bisected(confidence, 0.0, 0.5 * std::numbers::pi,
                                [&](double middle) { return within_angle(middle, degrees); });
  return std::sqrt(static_cast<double>(degrees)) * std::tan(angle);
}

double draws_needed(double variation, double error, double confidence) {
  const double ratio = normal_quantile(confidence) * variation / error;
  return ratio * ratio;
}

}}  // namespace c3::sampling
