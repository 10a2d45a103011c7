#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "results/report/html.hpp"
#include "results/report/plot.hpp"
#include "results/report/sweep/sweep_sections.hpp"

namespace c3 { inline namespace results {
namespace {

constexpr std::size_t kMostPanels = 12, kMostBars = 40;
constexpr double kBarHeight = 16;  // pixels

/// Spans the least value below 0, else 0, to the largest.
struct BarScale {
  ValueScale value;
  double low = 0, high = 0;

  double x(double at) const { return high > low ? kPlotWidth * (at - low) / (high - low) : 0; }
};

BarScale scale_of(const SweepScope& scope) {
  BarScale scale{.value = metric_scale(scope.grid, scope.choice.y)};
  for (const SweepCase& at : scope.grid.cases()) {
    const auto value = scope.grid.value(at, scope.choice.y);
    if (!value) continue;
    scale.low = std::min(scale.low, value->low);
    scale.high = std::max(scale.high, value->high);
  }
  return scale;
}

std::string bar(const SweepScope& scope, const SweepCase& at, std::size_t series, const BarScale& scale) {
  const auto value = scope.grid.value(at, scope.choice.y);
  const std::string title = case_text(scope, at, scope.choice.y, scale.value);
  if (!value)
    return fmt::format(R"(<div class="hatched">{}</div>)", escaped(status_words(scope.grid.status(at))));
  const double zero = scale.x(0), end = scale.x(value->median);
  std::string svg =
      plot_begin(kBarHeight, title) + rectangle(fmt::format("curve-{}", series), std::min(zero, end), 2,
                                                std::abs(end - zero), kBarHeight - 4, title);
  if (value->count > 1) {
    svg += fmt::format(R"(<path class="whisker" d="M{} {}H{}"/>)", short_number(scale.x(value->low)),
                       short_number(kBarHeight / 2), short_number(scale.x(value->high)));
  }
  return svg + vertical("zero", zero, kBarHeight, "") + kPlotEnd;
}

std::string row_cells(const SweepScope& scope, const SweepCase& at, std::size_t series, const BarScale& scale) {
  const auto value = scope.grid.value(at, scope.choice.y);
  std::string cells;
  if (scope.choice.series) {
    const SweptKey& axis = scope.grid.axes()[*scope.choice.series];
    cells += fmt::format(R"(<td class="system"><i class="curve-{}"></i>{}</td>)", series,
                         escaped(axis.labels[at.levels[*scope.choice.series]]));
  }
  return cells + R"(<td class="bar">)" + bar(scope, at, series, scale) + "</td>" +
         fmt::format(R"(<td class="number time">{}</td>)",
                     value ? escaped(scale.value.with_unit(value->median)) : "–");
}

/// A group of bars for each value of x, a bar for each of the series.
std::string panel_rows(const SweepScope& scope, const SweepPanel& panel, const BarScale& scale) {
  if (!scope.choice.x) return grouped_rows("all", {row_cells(scope, *panel.cases.front(), 0, scale)});
  const SweptKey& x = scope.grid.axes()[*scope.choice.x];
  const std::vector<std::size_t> drawn = drawn_series(scope);
  std::string rows;
  for (const std::size_t level : thinned(x.levels(), kMostBars)) {
    std::vector<std::string> group;
    for (const SweepCase* at : panel.cases) {
      const std::size_t series = scope.choice.series ? at->levels[*scope.choice.series] : 0;
      const auto place = std::ranges::lower_bound(drawn, series);
      if (at->levels[*scope.choice.x] == level && place != drawn.end() && *place == series)
        group.push_back(row_cells(scope, *at, static_cast<std::size_t>(place - drawn.begin()), scale));
    }
    rows += grouped_rows(x.labels[level], group);
  }
  return rows;
}

}  // namespace

std::string sweep_bars_section(const SweepScope& scope) {
  if (scope.choice.has_lines(scope.grid) || values_of(scope.grid, scope.choice.y).empty()) return "";
  const BarScale scale = scale_of(scope);
  const auto [panels, all] = panels_of(scope.grid, scope.choice.panels, kMostPanels);
  std::string tables, notes;
  for (const SweepPanel& panel : panels) {
    tables += (panel.title.empty() ? "" : "<h3>" + escaped(panel.title) + "</h3>\n") +
              "<table class=\"bars sweep\">\n<tbody>\n" + panel_rows(scope, panel, scale) +
              "</tbody></table>\n";
  }
  std::vector<std::pair<std::string, std::string>> options;
  std::string by;
  if (scope.choice.x) {
    const SweptKey& x = scope.grid.axes()[*scope.choice.x];
    options.emplace_back("--x", x.name);
    by = " by " + escaped(x.name);
    notes += left_out_note(std::min(kMostBars, x.levels()), x.levels(), "values of " + x.name);
  }
  options.emplace_back("--y", scope.choice.y);
  if (scope.choice.series) {
    const SweptKey& series = scope.grid.axes()[*scope.choice.series];
    options.emplace_back("--series", series.name);
    notes += left_out_note(drawn_series(scope).size(), series.levels(), "values of " + series.name);
  }
  if (scope.grid.seeds() > 1) {
    notes += fmt::format(
        "<p class=\"note\">Medians over {} seeds; the thin line is from the least to the largest.</p>\n",
        scope.grid.seeds());
  }
  return fmt::format("<section id=\"bars\">\n<h2>{}{}</h2>\n", escaped(scale.value.name_of(scope.choice.y)),
                     by) +
         tables + notes + left_out_note(panels.size(), all, "combinations of other keys") +
         plot_command(scope, options) + "</section>\n";
}

}}  // namespace c3::results
