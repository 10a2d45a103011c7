#include "results/report/bar_axis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/percent.hpp"
#include "results/report/html.hpp"
#include "results/report/plot.hpp"

namespace c3 { inline namespace results {

void BarAxis::hold(std::optional<double> value) {
  if (!value) return;
  low = std::min(low, *value);
  high = std::max(high, *value);
}

double BarAxis::x(double value) const { return kPlotWidth * (value - low) / (high - low); }

std::string BarAxis::left(double value) const { return short_number(kPercent * x(value) / kPlotWidth); }

std::vector<double> BarAxis::ticks() const {
  constexpr double kMost = 6;
  double step = std::pow(10.0, std::floor(std::log10((high - low) / kMost)));
  for (const double factor : {2.0, 2.5, 2.0}) {
    if ((high - low) / step > kMost) step *= factor;
  }
  std::vector<double> values;
  for (double value = std::ceil(low / step) * step; value <= high; value += step)
    values.push_back(value);
  return values;
}

std::string bar_grid(const BarAxis& axis) {
  std::string path;
  for (const double tick : axis.ticks())
    path += fmt::format("M{} 0V{}", short_number(axis.x(tick)), short_number(kBarHeight));
  return fmt::format(R"(<path class="grid" d="{}"/>)", path);
}

std::string bar_ticks(const BarAxis& axis) {
  std::string labels;
  for (const double tick : axis.ticks())
    labels += fmt::format(R"(<span style="left:{}%">{}</span>)", axis.left(tick), short_number(tick));
  return fmt::format(R"(<div class="ticks">{}</div>)", labels);
}

std::string value_bar(std::string_view css_class, double from, double to, double y, double height,
                      const BarAxis& axis, std::string_view title) {
  const auto [left, right] = std::minmax(from, to);
  return rectangle(css_class, axis.x(left), y, axis.x(right) - axis.x(left), height, title);
}

std::string whisker(const BarAxis& axis, double low, double high) {
  constexpr double kStroke = 8;  // distance to the upper and to the lower edge of the cell
  return fmt::format("<path class=\"whisker\" d=\"M{0} {2}H{1}M{0} {3}V{4}M{1} {3}V{4}\"/>",
                     short_number(axis.x(low)), short_number(axis.x(high)), short_number(kBarHeight / 2),
                     short_number(kStroke), short_number(kBarHeight - kStroke));
}

const char* const kBarStyle =
    R"(.whisker { fill: none; stroke: var(--text); stroke-width: 1.5; vector-effect: non-scaling-stroke; }
.legend i.whisker { height: 0; border-top: 2px solid var(--text); vertical-align: 4px; }
)";

}}  // namespace c3::results
