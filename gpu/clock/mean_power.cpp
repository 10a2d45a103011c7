#include "gpu/clock/mean_power.hpp"

#include <cmath>
#include <limits>

namespace c3 { inline namespace gpu {
namespace {

/// 1 - exp(-x). Most steps are a small part of the time constant, where three terms are exact to 1e-13.
double approached(double x) {
  constexpr double kSmall = 1e-4;
  return x < kSmall ? x * (1.0 - x * (0.5 - x / 6.0)) : -std::expm1(-x);
}

}  // namespace

void MeanPower::pass(Seconds time, Watts drawn) {
  mean_ = mean_ + approached(time / averaging_) * (drawn - mean_);
}

Seconds MeanPower::time_to(Watts edge, Watts drawn) const {
  if (edge == mean_) return {};
  const double to_edge = (edge - mean_).value, in_the_end = (drawn - mean_).value;
  if (to_edge * in_the_end <= 0.0 || std::abs(in_the_end) <= std::abs(to_edge))
    return Seconds{std::numeric_limits<double>::infinity()};
  return averaging_ * -std::log1p(-to_edge / in_the_end);
}

}}  // namespace c3::gpu
