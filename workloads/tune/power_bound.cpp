#include "workloads/tune/power_bound.hpp"

#include <cmath>

#include "gpu/clock/governor.hpp"

namespace c3 { inline namespace workloads {

Seconds power_bound(const GpuSpec& gpu, const std::vector<PowerLoad>& loads, Seconds others) {
  const double p = 1.0 / gpu.governor.exponent;
  const double allowed = (1.0 + kPowerMargin) * power_limit(gpu).value;
  double sum = 0.0, at_boost = 0.0;
  for (const PowerLoad& load : loads) {
    const double draws = gpu.governor.idle.value + load.energy.value / load.arithmetic.value;
    sum += load.arithmetic.value * std::pow(draws, 1.0 / p);
    at_boost += load.arithmetic.value;
  }
  // Both in units of power, so that no power of a small time comes up: (S / M)^p M <= allowed (M + others).
  const auto is_allowed = [&](double loaded) {
    return std::pow(sum / loaded, p) * loaded <= allowed * (loaded + others.value);
  };
  if (at_boost <= 0.0 || is_allowed(at_boost)) return Seconds{at_boost} + others;
  double low = at_boost, high = 2.0 * at_boost;
  while (!is_allowed(high))
    high *= 2.0;
  constexpr int kHalvings = 60;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = 0.5 * (low + high);
    (is_allowed(middle) ? high : low) = middle;
  }
  return Seconds{low} + others;
}

}}  // namespace c3::workloads
