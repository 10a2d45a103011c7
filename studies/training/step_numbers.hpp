#pragma once
/// How the parts of the study of training steps tell numbers.

#include <algorithm>
#include <functional>
#include <vector>

namespace c3::inline studies {

inline constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;
inline constexpr double kPercent = 100.0;

/// The sample in the middle by \p of, the lower one of two. \param samples at least one
template <class Sample, class Of = std::identity>
Sample median_of(std::vector<Sample> samples, Of of = {}) {
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>((samples.size() - 1) / 2);
  std::ranges::nth_element(samples, middle, {}, of);
  return *middle;
}

}  // namespace c3::studies
