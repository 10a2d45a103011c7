/// What several sections of a sweep's page say alike.

#include <fmt/format.h>

#include <algorithm>

#include "results/report/curve_svg.hpp"
#include "results/report/html.hpp"
#include "results/report/sweep/sweep_sections.hpp"
#include "results/shell_word.hpp"
#include "results/sweep/sweep_metric.hpp"

namespace c3 { inline namespace results {

std::vector<double> values_of(const SweepGrid& grid, const std::string& metric) {
  std::vector<double> values;
  for (const SweepCase& at : grid.cases()) {
    if (const auto value = grid.value(at, metric)) values.push_back(value->median);
  }
  return values;
}

ValueScale metric_scale(const SweepGrid& grid, const std::string& metric) {
  const auto strategies = grid.strategies();
  const ColumnData* data = nullptr;
  for (std::size_t i = 0; i < strategies.size() && data == nullptr; ++i)
    data = grid.column(strategies[i], metric);
  return scale_for(data == nullptr ? "1" : data->spec.units, values_of(grid, metric),
                   sweep_metric(metric).is_share);
}

std::string case_text(const SweepScope& scope, const SweepCase& at, const std::string& metric,
                      const ValueScale& scale) {
  const auto axes = scope.grid.free_axes();
  std::vector<std::size_t> levels;
  for (const std::size_t axis : axes)
    levels.push_back(at.levels[axis]);
  const auto value = scope.grid.value(at, metric);
  std::string text = metric + ": " + (value ? scale.with_unit(value->median) : scope.grid.status(at));
  if (value && value->count > 1) {
    text += fmt::format(" ({} seeds: {} to {})", value->count, scale.text(value->low), scale.text(value->high));
  }
  return axes.empty() ? text : text + "\n" + where_text(scope.grid, axes, levels);
}

std::string plot_command(const SweepScope& scope,
                         const std::vector<std::pair<std::string, std::string>>& options) {
  std::string command = scope.command;
  for (const auto& [option, value] : options)
    command += fmt::format(" {} {}", option, shell_word(value));
  return "<p class=\"command\"><code>" + escaped(command) + "</code></p>\n";
}

std::string status_words(std::string status) {
  std::ranges::replace(status, '_', ' ');
  return status;
}

std::vector<std::size_t> drawn_series(const SweepScope& scope) {
  if (!scope.choice.series) return {0};
  return thinned(scope.grid.axes()[*scope.choice.series].levels(), kCurveStyles);
}

std::string comma_list(const std::vector<std::string>& names) {
  return fmt::format("{}", fmt::join(names, ","));
}

std::string left_out_note(std::size_t shown, std::size_t all, std::string_view what) {
  if (shown >= all) return "";
  return fmt::format(
      "<p class=\"note left-out\">{} of {} {} are shown, evenly spread; --only KEY=VALUE chooses others."
      "</p>\n",
      shown, all, escaped(what));
}

std::string command_cell(const SweepGrid& grid, std::size_t row) {
  return fmt::format(R"(<td class="command"><details><summary>command</summary><code>{}</code></details></td>)",
                     escaped(grid.table().texts("command")[row]));
}

std::vector<std::string> level_cells(const SweepGrid& grid, const std::vector<std::size_t>& axes,
                                     const SweepCase& at) {
  std::vector<std::string> cells;
  for (const std::size_t axis : axes)
    cells.push_back(escaped(grid.axes()[axis].labels[at.levels[axis]]));
  return cells;
}

std::vector<std::size_t> ranked(const SweepGrid& grid, const std::vector<const SweepCase*>& cases,
                                const std::string& metric) {
  std::vector<std::pair<double, std::size_t>> costs;
  const Better better = sweep_metric(metric).better;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto value = grid.value(*cases[i], metric);
    if (!value) continue;
    costs.emplace_back(better == Better::neither ? 0 : (better == Better::less ? 1 : -1) * value->median, i);
  }
  std::ranges::stable_sort(costs, {}, &std::pair<double, std::size_t>::first);
  std::vector<std::size_t> order;
  for (const auto& [cost, i] : costs)
    order.push_back(i);
  return order;
}

}}  // namespace c3::results
