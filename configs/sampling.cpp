#include "configs/sampling.hpp"

#include <algorithm>
#include <cmath>

#include "engine/random.hpp"

namespace c3 {

// All 53 bits of a double on [0, 1): every draw that was ever published is made so.
double Sampling::uniform(std::string_view key) const {
  return static_cast<double>(RandomStream(seed_, key).bits(*draw_) >> 11U) * 0x1p-53;
}

double Sampling::sample(const Range& range, std::string_view key) const {
  if (!draw_ || range.low == range.high) return range.nominal;
  return std::clamp(std::lerp(range.low, range.high, uniform(key)), range.low, range.high);
}

std::int64_t Sampling::sample_integer(const Range& range, std::string_view key) const {
  if (!draw_ || range.low == range.high) return static_cast<std::int64_t>(range.nominal);
  const double values = range.high - range.low + 1;
  return static_cast<std::int64_t>(std::min(range.low + std::floor(uniform(key) * values), range.high));
}

}  // namespace c3
