#pragma once

#include <cmath>
#include <cstdint>

#include "engine/units.hpp"

namespace c3 { inline namespace results {

inline constexpr double kPicosecondsPerSecond = 1e12;

/// Dates in the file are whole picoseconds. Here, and only here, they are rounded.
inline std::int64_t picoseconds(Seconds time) noexcept {
  return std::llround(time.value * kPicosecondsPerSecond);
}

inline Seconds seconds(std::int64_t ps) noexcept {
  return Seconds{static_cast<double>(ps) / kPicosecondsPerSecond};
}

}}  // namespace c3::results
