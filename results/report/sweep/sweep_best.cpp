#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "results/report/html.hpp"
#include "results/report/sweep/sweep_sections.hpp"
#include "results/summary_numbers.hpp"
#include "results/sweep/sweep_metric.hpp"

namespace c3 { inline namespace results {
namespace {

constexpr std::size_t kBestFew = 8, kMostCombinations = 24;

/// Judged wherever a sweep has them.
std::vector<std::string> judged() {
  std::vector<std::string> names{"time", "speedup", "share_of_ideal"};
  std::ranges::transform(kStepItems, std::back_inserter(names), per_second_name);
  std::ranges::copy(std::array{"mfu", "exposed", "memory_peak"}, std::back_inserter(names));
  return names;
}

std::vector<const SweepCase*> all_cases(const SweepGrid& grid) {
  std::vector<const SweepCase*> cases;
  for (const SweepCase& at : grid.cases())
    cases.push_back(&at);
  return cases;
}

/// A number and how it is written.
struct Shown {
  std::string metric;
  ValueScale scale;
};

/// The metric drawn, and those that are judged wherever a sweep has them.
std::vector<Shown> metrics_here(const SweepScope& scope) {
  std::vector<Shown> metrics{{scope.choice.y, metric_scale(scope.grid, scope.choice.y)}};
  for (const std::string& metric : judged()) {
    if (metric != scope.choice.y && !values_of(scope.grid, metric).empty())
      metrics.push_back({metric, metric_scale(scope.grid, metric)});
  }
  return metrics;
}

std::string value_cell(const SweepGrid& grid, const SweepCase& at, const Shown& shown) {
  const auto value = grid.value(at, shown.metric);
  return value ? escaped(shown.scale.text(value->median)) : "–";
}

void append(std::vector<std::string>& cells, std::vector<std::string> more) {
  std::ranges::move(more, std::back_inserter(cells));
}

std::vector<std::string> names_of(const SweepGrid& grid, const std::vector<std::size_t>& axes) {
  std::vector<std::string> names;
  for (const std::size_t axis : axes)
    names.push_back(escaped(grid.axes()[axis].name));
  return names;
}

/// A row for each number of which one way is better: what it is, and its best point.
std::string by_number(const SweepScope& scope, const std::vector<Shown>& metrics) {
  const auto axes = scope.grid.free_axes();
  std::vector<std::string> header{"number", "is", "best is", "value"};
  append(header, names_of(scope.grid, axes));
  header.emplace_back("");
  std::vector<std::vector<std::string>> rows;
  const auto cases = all_cases(scope.grid);
  for (const auto& [metric, scale] : metrics) {
    const SweepMetric& known = sweep_metric(metric);
    const auto order = ranked(scope.grid, cases, metric);
    if (known.better == Better::neither || order.empty()) continue;
    const SweepCase& best = *cases[order.front()];
    const auto value = *scope.grid.value(best, metric);
    std::vector<std::string> row{
        escaped(metric),
        R"(<td class="words">)" + escaped(scope.grid.column(best.strategy, metric)->spec.long_name) + "</td>",
        known.better == Better::less ? "the least" : "the largest", escaped(scale.with_unit(value.median))};
    append(row, level_cells(scope.grid, axes, best));
    row.push_back(command_cell(scope.grid, value.row));
    rows.push_back(std::move(row));
  }
  return rows.empty() ? "" : table_html("times points by-number", header, rows);
}

/// The best of each combination of given keys, and by how much it is better than the worst.
std::string for_each_given(const SweepScope& scope, const std::vector<Shown>& metrics) {
  const SweepGrid& grid = scope.grid;
  const auto& given = scope.choice.for_each;
  std::vector<std::size_t> choices;
  for (const std::size_t axis : grid.free_axes())
    if (std::ranges::find(given, axis) == given.end()) choices.push_back(axis);
  if (given.empty() || choices.empty()) return "";
  const auto [panels, all] = panels_of(grid, given, kMostCombinations);
  std::vector<std::string> header = names_of(grid, given);
  append(header, names_of(grid, choices));
  for (const auto& [metric, scale] : metrics)
    header.push_back(escaped(scale.name_of(metric)));
  append(header, {"worst " + escaped(scope.choice.y), ""});
  std::vector<std::vector<std::string>> rows;
  for (const SweepPanel& panel : panels) {
    const auto order = ranked(grid, panel.cases, scope.choice.y);
    if (order.empty()) continue;
    const SweepCase& best = *panel.cases[order.front()];
    std::vector<std::string> row = level_cells(grid, given, best);
    append(row, level_cells(grid, choices, best));
    for (const Shown& shown : metrics)
      row.push_back(value_cell(grid, best, shown));
    row.push_back(value_cell(grid, *panel.cases[order.back()], metrics.front()));
    row.push_back(command_cell(grid, grid.value(best, scope.choice.y)->row));
    rows.push_back(std::move(row));
  }
  std::string keys = fmt::format("{}", fmt::join(names_of(grid, given), ", "));
  return fmt::format("<h3>Best {} for each {}</h3>\n", escaped(scope.choice.y), keys) +
         table_html("times points for-each", header, rows) + left_out_note(panels.size(), all, "combinations");
}

std::string best_few(const SweepScope& scope, const std::vector<Shown>& metrics) {
  const auto cases = all_cases(scope.grid);
  const auto order = ranked(scope.grid, cases, scope.choice.y);
  const auto axes = scope.grid.free_axes();
  std::vector<std::string> header{"rank"};
  append(header, names_of(scope.grid, axes));
  for (const auto& [metric, scale] : metrics)
    header.push_back(escaped(scale.name_of(metric)));
  header.emplace_back("");
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < std::min(kBestFew, order.size()); ++i) {
    const SweepCase& at = *cases[order[i]];
    std::vector<std::string> row{fmt::format("{}", i + 1)};
    append(row, level_cells(scope.grid, axes, at));
    for (const Shown& shown : metrics)
      row.push_back(value_cell(scope.grid, at, shown));
    row.push_back(command_cell(scope.grid, scope.grid.value(at, scope.choice.y)->row));
    rows.push_back(std::move(row));
  }
  return fmt::format("<h3>The {} best by {}, of {}</h3>\n", rows.size(), escaped(scope.choice.y),
                     order.size()) +
         table_html("times points few", header, rows);
}

}  // namespace

std::string sweep_best_section(const SweepScope& scope) {
  const auto metrics = metrics_here(scope);
  if (values_of(scope.grid, scope.choice.y).empty()) return "";
  const bool is_judged = sweep_metric(scope.choice.y).better != Better::neither;
  return "<section id=\"best\">\n<h2>Best points</h2>\n" + (is_judged ? for_each_given(scope, metrics) : "") +
         "<h3>Best of all</h3>\n" + by_number(scope, metrics) + (is_judged ? best_few(scope, metrics) : "") +
         "</section>\n";
}

}}  // namespace c3::results
