#pragma once
/// Percentiles by nearest rank: always one of the samples.

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace c3 { inline namespace workloads {

/// Position of the \p percent percentile (0 to 100) among \p count >= 1 sorted samples.
inline std::size_t nearest_rank(std::size_t count, double percent) {
  const auto rank = static_cast<std::size_t>(std::ceil(percent / 100.0 * static_cast<double>(count)));
  return std::clamp<std::size_t>(rank, 1, count) - 1;
}

}}  // namespace c3::workloads
