#pragma once

#include <cmath>
#include <cstdint>

#include "engine/units.hpp"

namespace c3 {

/// Dates in the file are whole picoseconds. Here, and only here, they are rounded.
inline std::int64_t picoseconds(Seconds time) noexcept {
  constexpr double kPerSecond = 1e12;
  return std::llround(time.value * kPerSecond);
}

}  // namespace c3
