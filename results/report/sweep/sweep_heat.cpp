#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "results/report/heat_colour.hpp"
#include "results/report/html.hpp"
#include "results/report/sweep/sweep_sections.hpp"
#include "results/sweep/heat_map.hpp"
#include "results/sweep/sweep_metric.hpp"

namespace c3 { inline namespace results {
namespace {

constexpr std::size_t kMostPanels = 8, kMostLevels = 32;

/// Black or white, whichever is read better on \p colour (relative luminance of WCAG 2).
const char* ink(Colour colour) {
  const auto linear = [](int part) { return std::pow((part / 255.0 + 0.055) / 1.055, 2.4); };
  const double luminance =
      0.2126 * linear(colour.red) + 0.7152 * linear(colour.green) + 0.0722 * linear(colour.blue);
  constexpr double kEqual = 0.179;  // contrasts with both are equal there
  return luminance > kEqual ? "#000" : "#fff";
}

/// Spans the worst value to the best; where no way is better, it begins at the least.
struct HeatScale {
  ValueScale value;
  double dark = 0, bright = 0;
  bool is_log = false;

  double share(double at) const {
    const auto map = [this](double v) { return is_log ? std::log(v) : v; };
    return bright == dark ? 1 : (map(at) - map(dark)) / (map(bright) - map(dark));
  }
};

HeatScale scale_of(const SweepScope& scope) {
  constexpr double kFar = 30;
  const std::vector<double> values = values_of(scope.grid, scope.choice.y);
  const auto [low, high] = std::ranges::minmax(values);
  const bool is_less = sweep_metric(scope.choice.y).better == Better::less;
  return {.value = metric_scale(scope.grid, scope.choice.y),
          .dark = is_less ? high : low,
          .bright = is_less ? low : high,
          .is_log = low > 0 && high > kFar * low};
}

std::string cell_html(const SweepScope& scope, const HeatCell& cell, const HeatScale& scale, bool is_best) {
  if (cell.at == nullptr) return R"(<td class="none"></td>)";
  const std::string title = escaped(case_text(scope, *cell.at, scope.choice.y, scale.value));
  if (!cell.value) {
    return fmt::format(R"(<td class="heat hatched" title="{}">{}</td>)", title,
                       escaped(status_words(scope.grid.status(*cell.at))));
  }
  const Colour colour = heat_colour(scale.share(*cell.value));
  return fmt::format(R"(<td class="heat{}" style="background:{};color:{}" title="{}">{}</td>)",
                     is_best ? " best" : "", hex(colour), ink(colour), title,
                     escaped(scale.value.text(*cell.value)));
}

/// The best value of the map, if one way is better.
std::optional<double> best_of(const HeatMap& map, Better better) {
  std::optional<double> best;
  for (const auto& row : map.cells) {
    for (const HeatCell& cell : row) {
      if (!cell.value || better == Better::neither) continue;
      if (!best || (better == Better::less ? *cell.value < *best : *cell.value > *best)) best = cell.value;
    }
  }
  return best;
}

std::string map_html(const SweepScope& scope, const SweepPanel& panel, const HeatScale& scale) {
  const HeatMap map = heat_map(scope.grid, panel, *scope.choice.heat, scope.choice.y, kMostLevels);
  const SweptKey& across = scope.grid.axes()[scope.choice.heat->first];
  const SweptKey& down = scope.grid.axes()[scope.choice.heat->second];
  const auto best = best_of(map, sweep_metric(scope.choice.y).better);
  std::string html = fmt::format(
      "<div class=\"heat-map\"><h3>{}</h3>\n<div class=\"scroll\"><table class=\"heat\">\n"
      "<thead><tr><th>{}</th>",
      escaped(panel.title), escaped(down.name + " \\ " + across.name));
  for (const std::size_t level : map.across)
    html += "<th scope=\"col\">" + escaped(across.labels[level]) + "</th>";
  html += "</tr></thead>\n<tbody>\n";
  for (std::size_t row = 0; row < map.down.size(); ++row) {
    html += R"(<tr><th scope="row">)" + escaped(down.labels[map.down[row]]) + "</th>";
    for (const HeatCell& cell : map.cells[row])
      html += cell_html(scope, cell, scale, best && cell.value == best);
    html += "</tr>\n";
  }
  return html + "</tbody></table></div></div>\n";
}

std::string legend(const HeatScale& scale) {
  return fmt::format(
      "<p class=\"legend\"><span>{}</span><span class=\"ramp\" style=\"background:{}\"></span>"
      "<span>{}</span><span>outlined: the best of its map</span></p>\n",
      escaped(scale.value.with_unit(scale.dark)), heat_gradient(),
      escaped(scale.value.with_unit(scale.bright)));
}

}  // namespace

std::string sweep_heat_section(const SweepScope& scope) {
  if (!scope.choice.heat || values_of(scope.grid, scope.choice.y).empty()) return "";
  const auto [x, y] = *scope.choice.heat;
  std::vector<std::size_t> others;
  for (const std::size_t axis : scope.grid.free_axes())
    if (axis != x && axis != y) others.push_back(axis);
  const HeatScale scale = scale_of(scope);
  const auto [panels, all] = panels_of(scope.grid, others, kMostPanels);
  std::string maps, notes = left_out_note(panels.size(), all, "combinations of other keys");
  for (const SweepPanel& panel : panels)
    maps += map_html(scope, panel, scale);
  const auto& axes = scope.grid.axes();
  for (const std::size_t axis : {x, y})
    notes += left_out_note(std::min(kMostLevels, axes[axis].levels()), axes[axis].levels(),
                           "values of " + axes[axis].name);
  return fmt::format("<section id=\"heat\">\n<h2>{} by {} and {}</h2>\n",
                     escaped(scale.value.name_of(scope.choice.y)), escaped(axes[x].name),
                     escaped(axes[y].name)) +
         legend(scale) + "<div class=\"heat-maps\">\n" + maps + "</div>\n" + notes +
         plot_command(scope, {{"--heat", comma_list({axes[x].name, axes[y].name})}, {"--y", scope.choice.y}}) +
         "</section>\n";
}

}}  // namespace c3::results
