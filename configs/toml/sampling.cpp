#include "configs/toml/sampling.hpp"

#include <algorithm>
#include <cmath>

#include "engine/random.hpp"

namespace c3 { inline namespace configs {

// All 53 bits of a double on [0, 1): every draw that was ever published is made so.
double Sampling::uniform(std::string_view key) const {
  return static_cast<double>(RandomStream(seed_, key).bits(*draw_) >> 11U) * 0x1p-53;
}

Sampling Sampling::at(const RangeEnd& end) {
  Sampling sampling;
  sampling.end_ = &end;
  return sampling;
}

Sampling Sampling::listing(std::vector<NamedRange>& ranges) {
  Sampling sampling;
  sampling.ranges_ = &ranges;
  return sampling;
}

double Sampling::without_draw(const Range& range, std::string_view key, bool whole) const {
  if (ranges_ != nullptr && range.low != range.high) ranges_->push_back({std::string(key), range, whole});
  if (end_ != nullptr && key == end_->key) return end_->high ? range.high : range.low;
  return range.nominal;
}

double Sampling::sample(const Range& range, std::string_view key) const {
  if (!draw_ || range.low == range.high) return without_draw(range, key, false);
  return std::clamp(std::lerp(range.low, range.high, uniform(key)), range.low, range.high);
}

std::int64_t Sampling::sample_integer(const Range& range, std::string_view key) const {
  if (!draw_ || range.low == range.high) return static_cast<std::int64_t>(without_draw(range, key, true));
  const double values = range.high - range.low + 1;
  return static_cast<std::int64_t>(std::min(range.low + std::floor(uniform(key) * values), range.high));
}

double drawn(const NamedRange& range, std::uint64_t draw, std::uint64_t seed) {
  const Sampling sampling(draw, seed);
  if (range.whole) return static_cast<double>(sampling.sample_integer(range.range, range.key));
  return sampling.sample(range.range, range.key);
}

}}  // namespace c3::configs
