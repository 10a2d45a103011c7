#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "results/report/curve_svg.hpp"
#include "results/report/html.hpp"
#include "results/report/sweep/sweep_sections.hpp"
#include "results/sweep/sweep_metric.hpp"

namespace c3 { inline namespace results {
namespace {

constexpr std::size_t kMostPanels = 12;
constexpr std::size_t kMostPoints = 12'000;  ///< points of all plots together

/// What the plots of one section have in common, so that they compare.
struct LineAxes {
  ValueScale scale;
  CurveAxis x, y;
  std::vector<std::size_t> series;  ///< levels of the series' axis that are drawn
  std::vector<std::size_t> along;   ///< levels of x that are drawn
};

bool is_log(const std::vector<double>& values) {
  constexpr double kFar = 30;
  const auto [low, high] = std::ranges::minmax(values);
  return low > 0 && high > kFar * low;
}

/// The axis that holds all medians and the bands around them.
CurveAxis common_y(const SweepScope& scope, const ValueScale& scale) {
  std::vector<double> values;
  for (const SweepCase& at : scope.grid.cases()) {
    const auto value = scope.grid.value(at, scope.choice.y);
    if (!value) continue;
    values.push_back(value->low / scale.size);
    values.push_back(value->high / scale.size);
  }
  const auto [low, high] = std::ranges::minmax(values);
  return value_axis(scale.name_of(scope.choice.y), low, high, is_log(values));
}

LineAxes axes_of(const SweepScope& scope, std::size_t panels) {
  const SweptKey& x = scope.grid.axes()[*scope.choice.x];
  LineAxes axes{.scale = metric_scale(scope.grid, scope.choice.y),
                .x = {},
                .y = {},
                .series = drawn_series(scope),
                .along = {}};
  axes.along = thinned(x.levels(), std::max<std::size_t>(2, kMostPoints / (panels * axes.series.size())));
  axes.x = level_axis(x.name, x.numbers, x.labels, is_spaced_by_factors(x.numbers));
  axes.y = common_y(scope, axes.scale);
  return axes;
}

/// The best point of a curve is drawn larger.
void mark_best(std::vector<CurvePoint>& points, Better better) {
  std::erase_if(points, [](const CurvePoint& point) { return point.title.empty(); });
  CurvePoint* best = nullptr;
  for (CurvePoint& point : points) {
    if (std::isnan(point.y)) continue;
    if (best == nullptr || (better == Better::less ? point.y < best->y : point.y > best->y)) best = &point;
  }
  if (best != nullptr && better != Better::neither) best->stands_out = true;
}

CurvePlot plot_of(const SweepScope& scope, const SweepPanel& panel, const LineAxes& axes) {
  const SweepGrid& grid = scope.grid;
  const SweptKey& x = grid.axes()[*scope.choice.x];
  CurvePlot plot{.title = panel.title, .x = axes.x, .y = axes.y, .curves = {}, .has_legend = false};
  for (const std::size_t level : axes.series) {
    Curve curve{.label = scope.choice.series ? grid.axes()[*scope.choice.series].labels[level] : "",
                .points = std::vector<CurvePoint>(axes.along.size()),
                .has_band = grid.seeds() > 1};
    for (const SweepCase* at : panel.cases) {
      if (scope.choice.series && at->levels[*scope.choice.series] != level) continue;
      const auto place = std::ranges::lower_bound(axes.along, at->levels[*scope.choice.x]);
      if (place == axes.along.end() || *place != at->levels[*scope.choice.x]) continue;
      const auto value = grid.value(*at, scope.choice.y);
      const double none = std::numeric_limits<double>::quiet_NaN();
      curve.points[static_cast<std::size_t>(place - axes.along.begin())] = {
          .x = x.numbers[*place],
          .y = value ? value->median / axes.scale.size : none,
          .low = value ? value->low / axes.scale.size : none,
          .high = value ? value->high / axes.scale.size : none,
          .title = case_text(scope, *at, scope.choice.y, axes.scale)};
    }
    mark_best(curve.points, sweep_metric(scope.choice.y).better);
    plot.curves.push_back(std::move(curve));
  }
  return plot;
}

std::string notes_of(const SweepScope& scope, const LineAxes& axes) {
  std::string text;
  if (axes.y.is_log) text += "The vertical axis is logarithmic. ";
  if (sweep_metric(scope.choice.y).better != Better::neither) text += "The large dot is the best of its line. ";
  if (scope.grid.seeds() > 1)
    text += fmt::format("Lines are medians over {} seeds, bands reach from the least to the largest. ",
                        scope.grid.seeds());
  if (std::ranges::any_of(scope.grid.cases(),
                          [&](const SweepCase& at) { return !scope.grid.value(at, scope.choice.y); }))
    text += "A line is broken where a point has no value. ";
  return text.empty() ? "" : "<p class=\"note\">" + escaped(text) + "</p>\n";
}

}  // namespace

std::string sweep_lines_section(const SweepScope& scope) {
  if (!scope.choice.has_lines(scope.grid) || values_of(scope.grid, scope.choice.y).empty()) return "";
  const auto [panels, all] = panels_of(scope.grid, scope.choice.panels, kMostPanels);
  const LineAxes axes = axes_of(scope, panels.size());
  const SweptKey& x = scope.grid.axes()[*scope.choice.x];
  std::string figures, legend, of_series;
  for (const SweepPanel& panel : panels) {
    const CurvePlot plot = plot_of(scope, panel, axes);
    if (legend.empty() && scope.choice.series) legend = curve_legend(plot);
    figures += curve_figure(plot);
  }
  std::vector<std::pair<std::string, std::string>> options{{"--x", x.name}, {"--y", scope.choice.y}};
  if (scope.choice.series) {
    const SweptKey& series = scope.grid.axes()[*scope.choice.series];
    options.emplace_back("--series", series.name);
    of_series = left_out_note(axes.series.size(), series.levels(), "values of " + series.name);
    legend = fmt::format("<div class=\"series\"><b>{}</b>{}</div>\n", escaped(series.name), legend);
  }
  return fmt::format("<section id=\"lines\">\n<h2>{} by {}</h2>\n", escaped(scope.choice.y), escaped(x.name)) +
         legend + "<div class=\"plots\">\n" + figures + "</div>\n" + notes_of(scope, axes) + of_series +
         left_out_note(panels.size(), all, "combinations of other keys") +
         left_out_note(axes.along.size(), x.levels(), "values of " + x.name) + plot_command(scope, options) +
         "</section>\n";
}

}}  // namespace c3::results
