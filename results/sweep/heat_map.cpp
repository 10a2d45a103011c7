#include "results/sweep/heat_map.hpp"

#include <algorithm>

namespace c3 { inline namespace results {
namespace {

/// The position of \p level among the kept ones, if it is kept.
std::optional<std::size_t> place_of(const std::vector<std::size_t>& kept, std::size_t level) {
  const auto found = std::ranges::lower_bound(kept, level);
  if (found == kept.end() || *found != level) return std::nullopt;
  return static_cast<std::size_t>(found - kept.begin());
}

}  // namespace

HeatMap heat_map(const SweepGrid& grid, const SweepPanel& panel, std::pair<std::size_t, std::size_t> axes,
                 const std::string& metric, std::size_t most) {
  const auto [across, down] = axes;
  HeatMap map{.across = thinned(grid.axes()[across].levels(), most),
              .down = thinned(grid.axes()[down].levels(), most),
              .cells = {}};
  map.cells.assign(map.down.size(), std::vector<HeatCell>(map.across.size()));
  for (const SweepCase* at : panel.cases) {
    const auto column = place_of(map.across, at->levels[across]), row = place_of(map.down, at->levels[down]);
    if (!column || !row) continue;
    const auto value = grid.value(*at, metric);
    map.cells[*row][*column] = {.at = at, .value = value ? std::optional(value->median) : std::nullopt};
  }
  return map;
}

}}  // namespace c3::results
