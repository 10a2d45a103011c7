#pragma once
/// Finds the points that no other point beats.

#include <cstddef>
#include <span>
#include <vector>

namespace c3 { inline namespace results {

/// Two costs of a point; less is better of both.
struct Costs {
  double x = 0, y = 0;
};

/// Places in \p points of those to which no other is equal or better in both and better in one, by rising x. Of
/// equal points all are there. In O(n log n).
std::vector<std::size_t> pareto_front(std::span<const Costs> points);

}}  // namespace c3::results
