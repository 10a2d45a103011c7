#pragma once
/// What of a sweep is drawn: chosen by its reader, else by what the sweep has.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "results/sweep/sweep_grid.hpp"

namespace c3 { inline namespace results {

/// Names are those of the grid; empty: chosen here.
struct SweepWishes {
  std::string x = {}, y = {}, series = {};
  std::vector<std::string> heat = {};      ///< two keys
  std::vector<std::string> pareto = {};    ///< two metrics
  std::vector<std::string> for_each = {};  ///< keys; the best point of each combination of their values
  std::vector<std::string> choose =
      {};  ///< keys that are choices, whatever they change: the best value is wanted
};

struct SweepChoice {
  std::string y;
  std::optional<std::size_t> x;  ///< axes of the grid; none where nothing varies
  std::optional<std::size_t> series;
  std::vector<std::size_t> panels;  ///< all other free ones: a plot for each combination
  std::optional<std::pair<std::size_t, std::size_t>> heat;  ///< across, down
  std::vector<std::string> pareto;                          ///< two metrics, or none
  std::vector<std::size_t> for_each;

  /// Whether x has several numbers for a line to go along.
  bool has_lines(const SweepGrid& grid) const;
};

/// y: tokens, images, samples or sequences a second of a step, else the speedup, else the time; the time where
/// the machine is swept. x: the key with the most numbers, else with the most texts. Series: strategies, else
/// the choice with the most values, else the key. Heat map: x and the key with the most values besides. Front:
/// memory against tokens a second, else kernels against collectives. For each: the keys that are given.
SweepChoice choose(const SweepGrid& grid, const SweepWishes& wishes);

/// A plot of several: combinations of values of some axes.
struct SweepPanel {
  std::vector<std::size_t> levels;  ///< one for each axis that tells panels apart
  std::string title;
  std::vector<const SweepCase*> cases;
};

/// A panel for each combination of values of \p axes, which the grid has; at most \p most panels, evenly
/// thinned. \returns also how many there are.
std::pair<std::vector<SweepPanel>, std::size_t> panels_of(const SweepGrid& grid,
                                                          const std::vector<std::size_t>& axes,
                                                          std::size_t most);

/// \p most places or fewer of \p count, evenly spread, the first and last among them.
std::vector<std::size_t> thinned(std::size_t count, std::size_t most);

/// "key value" of some axes of a case, with commas between.
std::string where_text(const SweepGrid& grid, const std::vector<std::size_t>& axes,
                       const std::vector<std::size_t>& levels);

}}  // namespace c3::results
