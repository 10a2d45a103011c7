#pragma once
/// A metric over two swept keys.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "results/sweep/sweep_choice.hpp"

namespace c3 { inline namespace results {

struct HeatCell {
  const SweepCase* at = nullptr;  ///< none: the sweep has no such point
  std::optional<double> value;    ///< absent: see the case's status
};

struct HeatMap {
  std::vector<std::size_t> across, down;     ///< levels of the two axes that are kept
  std::vector<std::vector<HeatCell>> cells;  ///< [down][across]
};

/// Maps the cases of one panel. \p axes: across, down; at most \p most values of each are kept.
HeatMap heat_map(const SweepGrid& grid, const SweepPanel& panel, std::pair<std::size_t, std::size_t> axes,
                 const std::string& metric, std::size_t most);

}}  // namespace c3::results
