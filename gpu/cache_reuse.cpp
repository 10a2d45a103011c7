#include "gpu/cache_reuse.hpp"

#include <cmath>

namespace c3 { inline namespace gpu {

double reuse_miss_fraction(Bytes reused, Bytes streamed, Bytes capacity, Replacement replacement) {
  if (capacity.value <= 0.0) return 1.0;
  if (replacement == Replacement::lru) return reused + streamed > capacity ? 1.0 : 0.0;
  if (reused.value <= 0.0) return -std::expm1(-(streamed / capacity));
  const double r = reused / capacity;
  const double s = streamed / capacity;
  // f(x) = x - 1 + exp(-(r x + s)) is convex with f(1) > 0, so Newton from 1 falls to the largest root, which
  // is in [0, 1] and 0 only when nothing is streamed and the working set fits.
  double x = 1.0;
  for (int i = 0; i < 60; ++i) {
    const double survive = std::exp(-(r * x + s));
    const double slope = 1.0 - r * survive;
    const double step = slope > 0.0 ? (x - 1.0 + survive) / slope : x;
    x -= step;
    if (x <= 0.0) return 0.0;
    if (std::abs(step) <= 1e-12) break;
  }
  return x;
}

}}  // namespace c3::gpu
