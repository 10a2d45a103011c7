#include "workloads/sampling/confidence.hpp"

#include <cmath>
#include <numbers>

namespace c3::inline sampling {

double normal_quantile(double confidence) {
  double low = 0.0, high = 40.0;  // erf is 1 in double precision long before
  for (int i = 0; i < 100; ++i) {
    const double middle = 0.5 * (low + high);
    (std::erf(middle / std::numbers::sqrt2) < confidence ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

double draws_needed(double variation, double error, double confidence) {
  const double ratio = normal_quantile(confidence) * variation / error;
  return ratio * ratio;
}

}  // namespace c3::sampling
