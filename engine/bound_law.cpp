#include "engine/bound_law.hpp"

#include <algorithm>
#include <cmath>

namespace c3 { inline namespace engine {

double overlapped_time(double a, double b, double exponent) {
  const auto [shorter, longer] = std::minmax(a, b);
  if (shorter <= 0.0 || std::isinf(exponent)) return longer;
  return longer * std::pow(1.0 + std::pow(shorter / longer, exponent), 1.0 / exponent);
}

double BoundLaw::time(double speed) const {
  double steady = 0.0;
  for (const Phase& phase : phases)
    steady += std::max(phase.fixed + phase.scaled / speed, phase.least + phase.steps / speed);
  return overlapped_time(std::max(steady, least), beside, overlap);
}

}}  // namespace c3::engine
