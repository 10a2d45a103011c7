#include "engine/intervals.hpp"

#include <algorithm>

namespace c3 { inline namespace engine {

Intervals united(std::vector<Interval> parts) {
  std::ranges::sort(parts, {}, &Interval::begin);
  Intervals set;
  for (const auto& part : parts) {
    if (part.end <= part.begin) continue;
    if (!set.empty() && part.begin <= set.back().end) {
      set.back().end = std::max(set.back().end, part.end);
    } else {
      set.push_back(part);
    }
  }
  return set;
}

Intervals intersection(const Intervals& a, const Intervals& b) {
  Intervals set;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const Interval common{std::max(a[i].begin, b[j].begin), std::min(a[i].end, b[j].end)};
    if (common.begin < common.end) set.push_back(common);
    if (a[i].end < b[j].end) {
      ++i;
    } else {
      ++j;
    }
  }
  return set;
}

std::int64_t length(const Intervals& set) {
  std::int64_t sum = 0;
  for (const auto& part : set)
    sum += part.end - part.begin;
  return sum;
}

}}  // namespace c3::engine
