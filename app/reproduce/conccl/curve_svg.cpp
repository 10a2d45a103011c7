#include "app/reproduce/conccl/curve_svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "engine/units.hpp"
#include "results/report/html.hpp"

namespace c3 {
namespace {

constexpr double kWidth = 460, kHeight = 300;
constexpr double kLeft = 40, kRight = 14, kTop = 12, kBottom = 42;

/// From values to pixels.
struct Scale {
  double low = 0.0, high = 1.0;
  double from = 0.0, to = 1.0;  ///< pixels of both ends
  bool by_doubling = false;

  double at(double value) const {
    const auto map = [this](double v) { return by_doubling ? std::log2(v) : v; };
    return from + (to - from) * (map(value) - map(low)) / (map(high) - map(low));
  }
};

/// The least of 1, 2, 5, 10 .. that is not below \p least.
double round_step(double least) {
  const double decade = std::pow(10.0, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * decade >= least * (1.0 - 1e-9)) return factor * decade;
  }
  return 10.0 * decade;
}

std::vector<double> ticks(const Scale& scale, double most) {
  std::vector<double> values;
  if (scale.by_doubling) {
    constexpr double kStep = 32.0;
    for (double value = scale.low; value <= scale.high * 1.001; value *= kStep)
      values.push_back(value);
    return values;
  }
  const double step = round_step((scale.high - scale.low) / most);
  for (double value = std::ceil(scale.low / step) * step; value <= scale.high + 1e-9 * step; value += step)
    values.push_back(value);
  return values;
}

std::string tick_text(double value, bool is_size) {
  if (!is_size) return short_number(value);
  constexpr std::array kUnits = {"B", "KiB", "MiB", "GiB"};
  std::size_t unit = 0;
  for (; value >= kKibi && unit + 1 < kUnits.size(); ++unit)
    value /= kKibi;
  return fmt::format("{} {}", short_number(value), kUnits.at(unit));
}

struct Axes {
  Scale x, y;
};

Axes axes_of(const CurvePlot& plot) {
  std::vector<CurvePoint> points;
  for (const Curve& curve : plot.curves)
    points.insert(points.end(), curve.points.begin(), curve.points.end());
  for (const PublishedPoint& published : plot.published)
    points.push_back(published.at);
  const auto [left, right] = std::ranges::minmax(points, {}, &CurvePoint::x);
  const auto [lowest, highest] = std::ranges::minmax(points, {}, &CurvePoint::y);
  const double top = highest.y;
  const double bottom = std::min(0.0, lowest.y);  // from 0, unless something is below
  constexpr double kMostTicks = 6, kRoom = 1.04;
  const double step = round_step(kRoom * (top - bottom) / kMostTicks);
  return {.x = {.low = plot.is_of_sizes ? left.x : 0.0,
                .high = right.x,
                .from = kLeft,
                .to = kWidth - kRight,
                .by_doubling = plot.is_of_sizes},
          .y = {.low = std::floor(bottom / step) * step,
                .high = std::ceil(kRoom * top / step) * step,
                .from = kHeight - kBottom,
                .to = kTop}};
}

std::string text(const char* css_class, double x, double y, std::string_view words) {
  return fmt::format("<text class=\"{}\" x=\"{}\" y=\"{}\">{}</text>", css_class, short_number(x),
                     short_number(y), escaped(words));
}

std::string frame(const CurvePlot& plot, const Axes& axes) {
  constexpr double kMost = 8;
  std::string lines, words;
  for (const double value : ticks(axes.y, 6)) {
    const double y = axes.y.at(value);
    lines += fmt::format("M{} {}H{}", short_number(kLeft), short_number(y), short_number(kWidth - kRight));
    words += text("tick-y", kLeft - 6, y + 4, short_number(value));
  }
  for (const double value : ticks(axes.x, kMost)) {
    const double x = axes.x.at(value);
    lines += fmt::format("M{} {}V{}", short_number(x), short_number(kTop), short_number(kHeight - kBottom));
    words += text("tick-x", x, kHeight - kBottom + 16, tick_text(value, plot.is_of_sizes));
  }
  words += text("axis-x", 0.5 * (kLeft + kWidth - kRight), kHeight - 6, plot.x);
  return fmt::format("<path class=\"grid\" d=\"{}\"/>", lines) + words;
}

std::string line_of(const Curve& curve, std::size_t number, const CurvePlot& plot, const Axes& axes) {
  std::string path, dots;
  for (const CurvePoint& point : curve.points) {
    const std::string x = short_number(axes.x.at(point.x)), y = short_number(axes.y.at(point.y));
    path += fmt::format("{}{} {}", path.empty() ? "M" : "L", x, y);
    dots += fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"3\"><title>{}</title></circle>", x, y,
                        escaped(fmt::format("{}, {}: {}", curve.label, tick_text(point.x, plot.is_of_sizes),
                                            short_number(point.y))));
  }
  return fmt::format("<g class=\"curve-{}\"><path d=\"{}\"/>{}</g>", number, path, dots);
}

/// A diamond and, beside it on the side where there is room, what it is.
std::string diamond(const PublishedPoint& published, const Axes& axes) {
  const double x = axes.x.at(published.at.x), y = axes.y.at(published.at.y);
  constexpr double kSize = 6;
  const bool is_left = x < 0.5 * kWidth;
  return fmt::format(
             "<path class=\"published\" d=\"M{0} {2}L{1} {3}L{0} {4}L{5} {3}Z\"><title>{6}</title></path>",
             short_number(x), short_number(x + kSize), short_number(y - kSize), short_number(y),
             short_number(y + kSize), short_number(x - kSize),
             escaped(fmt::format("published: {}, {}", published.label, short_number(published.at.y)))) +
         text(is_left ? "mark-text" : "mark-text end", x + (is_left ? kSize : -kSize), y - kSize - 2,
              published.label);
}

std::string legend(const CurvePlot& plot) {
  std::string items;
  for (std::size_t i = 0; i < plot.curves.size(); ++i)
    items += fmt::format("<span><i class=\"line curve-{}\"></i>{}</span> ", i, escaped(plot.curves[i].label));
  if (!plot.published.empty()) items += "<span><b class=\"published\">◆</b> published</span>";
  return "<p class=\"legend\">" + items + "</p>";
}

}  // namespace

std::string curve_figure(const CurvePlot& plot) {
  const Axes axes = axes_of(plot);
  std::string svg = fmt::format(R"(<svg class="curves" viewBox="0 0 {} {}" role="img" aria-label="{}">)",
                                short_number(kWidth), short_number(kHeight), escaped(plot.title)) +
                    frame(plot, axes);
  for (std::size_t i = 0; i < plot.curves.size(); ++i)
    svg += line_of(plot.curves[i], i, plot, axes);
  for (const PublishedPoint& published : plot.published)
    svg += diamond(published, axes);
  return fmt::format(
      "<figure class=\"curve\"><figcaption><b>{}</b><span>{}</span></figcaption>\n{}</svg>\n{}</figure>\n",
      escaped(plot.title), escaped(plot.y), svg, legend(plot));
}

}  // namespace c3
