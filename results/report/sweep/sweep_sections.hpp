#pragma once
/// The parts of a sweep's page, each a <section>.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "results/report/value_scale.hpp"
#include "results/sweep/sweep_choice.hpp"

namespace c3 { inline namespace results {

/// What all sections share.
struct SweepScope {
  const SweepGrid& grid;
  SweepChoice choice;
  std::string command;  ///< command that makes this page, without the words that say what is drawn
};

std::string sweep_head_section(const SweepScope& scope, const std::string& title);
std::string sweep_best_section(const SweepScope& scope);
std::string sweep_lines_section(const SweepScope& scope);  ///< along x's numbers
std::string sweep_bars_section(const SweepScope& scope);   ///< for an x without numbers
std::string sweep_heat_section(const SweepScope& scope);
std::string sweep_pareto_section(const SweepScope& scope);
std::string sweep_failures_section(const SweepScope& scope);
std::string sweep_table_section(const SweepScope& scope);
std::string sweep_provenance_section(const SweepScope& scope);
extern const char* const kSweepStyle;

/// All values that the cases have of a metric.
std::vector<double> values_of(const SweepGrid& grid, const std::string& metric);
/// Unit and prefix for all of them.
ValueScale metric_scale(const SweepGrid& grid, const std::string& metric);
/// "speedup: 1.66, all_gather, cus 32 (3 seeds: 1.65 to 1.67)", for a tooltip.
std::string case_text(const SweepScope& scope, const SweepCase& at, const std::string& metric,
                      const ValueScale& scale);
/// What makes a plot: \p options are names and values.
std::string plot_command(const SweepScope& scope,
                         const std::vector<std::pair<std::string, std::string>>& options);
/// A status as people write it: "out of memory".
std::string status_words(std::string status);
/// Levels of the series' axis that are drawn; one level where there are no series.
std::vector<std::size_t> drawn_series(const SweepScope& scope);
/// Names of axes or metrics with commas between.
std::string comma_list(const std::vector<std::string>& names);
/// "12 of 40 ...", where some are left out, else empty.
std::string left_out_note(std::size_t shown, std::size_t all, std::string_view what);
/// A cell with the command that runs one point.
std::string command_cell(const SweepGrid& grid, std::size_t row);
/// Values of these axes, as cells of a table.
std::vector<std::string> level_cells(const SweepGrid& grid, const std::vector<std::size_t>& axes,
                                     const SweepCase& at);
/// Places of the cases that have the metric, the best first; in the order of the sweep if no way is better.
std::vector<std::size_t> ranked(const SweepGrid& grid, const std::vector<const SweepCase*>& cases,
                                const std::string& metric);

}}  // namespace c3::results
