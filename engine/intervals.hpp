#pragma once
/// Sets of time: what runs at the same time is found from them, never by subtracting durations.

#include <cstdint>
#include <vector>

namespace c3 { inline namespace engine {

/// [begin, end) in ps.
struct Interval {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// Disjoint, not touching, in order.
using Intervals = std::vector<Interval>;

Intervals united(std::vector<Interval> parts);
Intervals intersection(const Intervals& a, const Intervals& b);
std::int64_t length(const Intervals& set);

}}  // namespace c3::engine
