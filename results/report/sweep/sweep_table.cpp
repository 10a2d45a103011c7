#include <fmt/format.h>

#include <algorithm>

#include "results/report/html.hpp"
#include "results/report/sweep/sweep_sections.hpp"
#include "results/sweep/sweep_metric.hpp"

namespace c3 { inline namespace results {
namespace {

constexpr std::size_t kMostRows = 400, kMostCells = 12'000;

struct Shown {
  std::string metric;
  ValueScale scale;
};

/// Numbers that any case has, the one that is drawn first.
std::vector<Shown> numbers_here(const SweepScope& scope) {
  std::vector<Shown> shown;
  const auto add = [&](const std::string& metric) {
    const bool is_there = std::ranges::find(shown, metric, &Shown::metric) != shown.end();
    if (is_there || values_of(scope.grid, metric).empty()) return;
    shown.push_back({metric, metric_scale(scope.grid, metric)});
  };
  add(scope.choice.y);
  for (const std::string& metric : metrics_of(scope.grid.table())) {
    if (scope.grid.axis(metric)) break;  // swept keys, the last of them, have columns of their own
    const bool is_whole = std::ranges::any_of(
        scope.grid.strategies(), [&](const std::string& name) { return metric.starts_with(name + "."); });
    if (!is_whole) add(metric);
  }
  return shown;
}

std::string value_cell(const SweepGrid& grid, const SweepCase& at, const Shown& shown) {
  const auto value = grid.value(at, shown.metric);
  if (!value) return "–";
  const std::string text = escaped(shown.scale.text(value->median));
  if (value->count == 1) return text;
  return fmt::format(R"(<td title="{} to {}">{}</td>)", escaped(shown.scale.text(value->low)),
                     escaped(shown.scale.text(value->high)), text);
}

}  // namespace

std::string sweep_table_section(const SweepScope& scope) {
  const SweepGrid& grid = scope.grid;
  const auto shown = numbers_here(scope);
  const auto axes = grid.free_axes();
  const std::size_t columns = axes.size() + shown.size() + 2;
  const std::size_t most = std::min(kMostRows, kMostCells / columns);
  std::vector<std::string> header;
  for (const std::size_t axis : axes)
    header.push_back(escaped(grid.axes()[axis].name));
  header.emplace_back("status");
  for (const auto& [metric, scale] : shown)
    header.push_back(escaped(scale.name_of(metric)));
  std::vector<std::vector<std::string>> rows;
  for (const std::size_t i : thinned(grid.cases().size(), most)) {
    const SweepCase& at = grid.cases()[i];
    std::vector<std::string> cells = level_cells(grid, axes, at);
    const bool has_time = grid.value(at, "time").has_value();
    cells.push_back(has_time ? "ok" : escaped(status_words(grid.status(at))));
    for (const Shown& number : shown)
      cells.push_back(value_cell(grid, at, number));
    rows.push_back(std::move(cells));
  }
  const std::string seeds =
      grid.seeds() > 1 ? fmt::format("<p class=\"note\">Medians over {} seeds.</p>\n", grid.seeds()) : "";
  return "<section id=\"points\">\n<details><summary>All points as a table</summary>\n" + seeds +
         left_out_note(rows.size(), grid.cases().size(), "rows") +
         table_html("times points all", header, rows) + "</details>\n</section>\n";
}

}}  // namespace c3::results
