#include "results/sweep/pareto.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace c3 { inline namespace results {

std::vector<std::size_t> pareto_front(std::span<const Costs> points) {
  std::vector<std::size_t> order(points.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return std::pair(points[i].x, points[i].y); });
  std::vector<std::size_t> front;
  double least = std::numeric_limits<double>::infinity();  // y of all points before
  for (const std::size_t i : order) {
    const bool is_twin = !front.empty() && points[i].x == points[front.back()].x && points[i].y == least;
    if (points[i].y >= least && !is_twin) continue;
    front.push_back(i);
    least = points[i].y;
  }
  return front;
}

}}  // namespace c3::results
