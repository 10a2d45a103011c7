#include "workloads/traces/shape_counts.hpp"

#include <algorithm>
#include <utility>

namespace c3 { inline namespace traces {

void ShapeCounts::add(const OperatorShapes& shapes) {
  const auto key = std::tuple(shapes.name, shapes.dims, shapes.types);
  const auto [place, is_new] = counts_.emplace(key, shapes);
  if (is_new) return;
  place->second.count += shapes.count;
  place->second.time += shapes.time;
}

std::vector<OperatorShapes> ShapeCounts::take() {
  std::vector<OperatorShapes> sorted;
  for (auto& [key, shapes] : counts_)
    sorted.push_back(std::move(shapes));
  counts_.clear();
  std::ranges::stable_sort(sorted, std::ranges::greater{},
                           [](const OperatorShapes& shapes) { return std::pair(shapes.time, shapes.count); });
  return sorted;
}

}}  // namespace c3::traces
