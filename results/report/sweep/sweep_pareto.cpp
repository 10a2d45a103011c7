#include <fmt/format.h>

#include <algorithm>

#include "results/report/curve_svg.hpp"
#include "results/report/html.hpp"
#include "results/report/sweep/sweep_sections.hpp"
#include "results/sweep/pareto.hpp"
#include "results/sweep/sweep_metric.hpp"

namespace c3 { inline namespace results {
namespace {

constexpr std::size_t kMostPanels = 8, kMostDots = 400, kMostRows = 40;

/// A metric as an axis of the plot and as a cost.
struct Side {
  std::string metric;
  ValueScale scale;
  bool is_more_better;

  double cost(double value) const { return is_more_better ? -value : value; }
  std::string direction() const { return is_more_better ? "more is better" : "less is better"; }
};

Side side_of(const SweepScope& scope, const std::string& metric) {
  return {.metric = metric,
          .scale = metric_scale(scope.grid, metric),
          .is_more_better = sweep_metric(metric).better == Better::more};
}

struct Front {
  std::vector<const SweepCase*> cases;  ///< with both numbers
  std::vector<Costs> costs;
  std::vector<std::size_t> on_front;  ///< places in both
};

Front front_of(const SweepScope& scope, const SweepPanel& panel, const Side& x, const Side& y) {
  Front front;
  for (const SweepCase* at : panel.cases) {
    const auto one = scope.grid.value(*at, x.metric), other = scope.grid.value(*at, y.metric);
    if (!one || !other) continue;
    front.cases.push_back(at);
    front.costs.push_back({x.cost(one->median), y.cost(other->median)});
  }
  front.on_front = pareto_front(front.costs);
  return front;
}

CurvePoint dot(const SweepScope& scope, const SweepCase& at, const Side& x, const Side& y) {
  const std::string where = case_text(scope, at, x.metric, x.scale);
  return {.x = scope.grid.value(at, x.metric)->median / x.scale.size,
          .y = scope.grid.value(at, y.metric)->median / y.scale.size,
          .title = y.metric + ": " + y.scale.with_unit(scope.grid.value(at, y.metric)->median) + "\n" + where};
}

CurvePlot plot_of(const SweepScope& scope, const SweepPanel& panel, const Front& front, const Side& x,
                  const Side& y) {
  CurvePlot plot{.title = panel.title, .x = {}, .y = {}, .curves = {}, .has_legend = false};
  Curve on{.label = "front", .points = {}}, off{.label = "beaten", .points = {}, .has_line = false};
  std::vector<double> xs, ys;
  for (const std::size_t i : front.on_front)
    on.points.push_back(dot(scope, *front.cases[i], x, y));
  for (const std::size_t i : thinned(front.cases.size(), kMostDots))
    if (std::ranges::find(front.on_front, i) == front.on_front.end())
      off.points.push_back(dot(scope, *front.cases[i], x, y));
  for (const Curve* curve : {&on, &off}) {
    for (const CurvePoint& point : curve->points) {
      xs.push_back(point.x);
      ys.push_back(point.y);
    }
  }
  const auto [left, right] = std::ranges::minmax(xs);
  const auto [low, high] = std::ranges::minmax(ys);
  plot.x = value_axis(x.scale.name_of(x.metric), left, right, false);
  plot.y = value_axis(y.scale.name_of(y.metric), low, high, false);
  std::ranges::stable_sort(on.points, {}, &CurvePoint::x);
  for (CurvePoint& point : on.points)
    point.stands_out = true;
  plot.curves = {std::move(off), std::move(on)};  // the front above
  return plot;
}

std::vector<std::string> row_of(const SweepScope& scope, const SweepCase& at, const Side& x, const Side& y) {
  std::vector<std::string> row = level_cells(scope.grid, scope.grid.free_axes(), at);
  for (const Side* side : {&x, &y})
    if (!scope.grid.axis(side->metric))
      row.push_back(side->scale.text(scope.grid.value(at, side->metric)->median));
  row.push_back(command_cell(scope.grid, scope.grid.value(at, y.metric)->row));
  return row;
}

std::vector<std::string> header_of(const SweepScope& scope, const Side& x, const Side& y) {
  std::vector<std::string> header;
  for (const std::size_t axis : scope.grid.free_axes())
    header.push_back(escaped(scope.grid.axes()[axis].name));
  for (const Side* side : {&x, &y})
    if (!scope.grid.axis(side->metric)) header.push_back(escaped(side->scale.name_of(side->metric)));
  header.emplace_back("");
  return header;
}

}  // namespace

std::string sweep_pareto_section(const SweepScope& scope) {
  if (scope.choice.pareto.size() != 2) return "";
  const Side x = side_of(scope, scope.choice.pareto[0]), y = side_of(scope, scope.choice.pareto[1]);
  const auto [panels, all] = panels_of(scope.grid, scope.choice.for_each, kMostPanels);
  std::string figures, legend;
  std::vector<std::vector<std::string>> rows;
  std::size_t points = 0;
  for (const SweepPanel& panel : panels) {
    const Front front = front_of(scope, panel, x, y);
    if (front.cases.empty()) continue;
    const CurvePlot plot = plot_of(scope, panel, front, x, y);
    legend = curve_legend(plot);
    figures += curve_figure(plot);
    points += front.on_front.size();
    for (const std::size_t i : front.on_front)
      if (rows.size() < kMostRows) rows.push_back(row_of(scope, *front.cases[i], x, y));
  }
  if (figures.empty()) return "";
  const std::string note = fmt::format(
      "<p class=\"note\">{}: {}; {}: {}. No other point is as good in both and better in one."
      "{}</p>\n",
      escaped(x.metric), x.direction(), escaped(y.metric), y.direction(),
      points > rows.size()
          ? fmt::format(" The first {} of {} points of fronts are listed.", rows.size(), points)
          : "");
  return "<section id=\"pareto\">\n<h2>" + escaped(x.metric) + " against " + escaped(y.metric) + "</h2>\n" +
         legend + "<div class=\"plots\">\n" + figures + "</div>\n" + note +
         left_out_note(panels.size(), all, "combinations of given keys") +
         table_html("times points", header_of(scope, x, y), rows) +
         plot_command(scope, {{"--pareto", comma_list(scope.choice.pareto)}}) + "</section>\n";
}

}}  // namespace c3::results
