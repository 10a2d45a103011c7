#include "results/report/curve_svg.hpp"

#include <fmt/format.h>

#include <cmath>
#include <span>

#include "results/report/html.hpp"

namespace c3 { inline namespace results {
namespace {

constexpr double kRight = kCurveWidth - kCurveRight, kFoot = kCurveHeight - kCurveBottom;

/// Converts values to pixels.
struct Pixels {
  const CurvePlot& plot;
  double x(double value) const { return kCurveLeft + (kRight - kCurveLeft) * plot.x.share(value); }
  double y(double value) const { return kFoot + (kCurveTop - kFoot) * plot.y.share(value); }
  std::string at(double px, double py) const { return short_number(x(px)) + " " + short_number(y(py)); }
};

std::string text(const char* css_class, double x, double y, std::string_view words) {
  return fmt::format("<text class=\"{}\" x=\"{}\" y=\"{}\">{}</text>", css_class, short_number(x),
                     short_number(y), escaped(words));
}

std::string frame(const Pixels& pixels) {
  std::string lines, words;
  for (const AxisTick& tick : pixels.plot.y.ticks) {
    const double y = pixels.y(tick.at);
    lines += fmt::format("M{} {}H{}", short_number(kCurveLeft), short_number(y), short_number(kRight));
    words += text("tick-y", kCurveLeft - 6, y + 4, tick.text);
  }
  for (const AxisTick& tick : pixels.plot.x.ticks) {
    const double x = pixels.x(tick.at);
    lines += fmt::format("M{} {}V{}", short_number(x), short_number(kCurveTop), short_number(kFoot));
    words += text("tick-x", x, kFoot + 16, tick.text);
  }
  words += text("axis-x", 0.5 * (kCurveLeft + kRight), kCurveHeight - 6, pixels.plot.x.name);
  return fmt::format("<path class=\"grid\" d=\"{}\"/>", lines) + words;
}

/// Points in a row that have values: a line goes through each.
std::vector<std::span<const CurvePoint>> unbroken(const std::vector<CurvePoint>& points) {
  std::vector<std::span<const CurvePoint>> parts;
  for (std::size_t begin = 0; begin < points.size(); ++begin) {
    std::size_t end = begin;
    while (end < points.size() && !std::isnan(points[end].y))
      ++end;
    if (end > begin) parts.push_back(std::span(points).subspan(begin, end - begin));
    begin = end;
  }
  return parts;
}

std::string line_through(std::span<const CurvePoint> part, const Pixels& pixels) {
  std::string path;
  for (const CurvePoint& point : part)
    path += (path.empty() ? "M" : "L") + pixels.at(point.x, point.y);
  return path;
}

std::string band_around(std::span<const CurvePoint> part, const Pixels& pixels) {
  std::string path;
  for (const CurvePoint& point : part)
    path += (path.empty() ? "M" : "L") + pixels.at(point.x, point.high);
  for (auto point = part.rbegin(); point != part.rend(); ++point)
    path += "L" + pixels.at(point->x, point->low);
  return path + "Z";
}

std::string dots_of(const Curve& curve, const Pixels& pixels) {
  constexpr double kDot = 3, kLargeDot = 5;
  std::string dots;
  for (const CurvePoint& point : curve.points) {
    if (std::isnan(point.y)) continue;
    dots += fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"{}\"><title>{}</title></circle>",
                        short_number(pixels.x(point.x)), short_number(pixels.y(point.y)),
                        point.stands_out ? kLargeDot : kDot, escaped(point.title));
  }
  return dots;
}

std::string curve_shapes(const Curve& curve, std::size_t number, const Pixels& pixels) {
  std::string band, path;
  for (const auto part : unbroken(curve.points)) {
    if (curve.has_band) band += band_around(part, pixels);
    if (curve.has_line) path += line_through(part, pixels);
  }
  return fmt::format("<g class=\"curve-{}\">", number) +
         (band.empty() ? "" : fmt::format("<path class=\"band\" d=\"{}\"/>", band)) +
         (path.empty() ? "" : fmt::format("<path d=\"{}\"/>", path)) + dots_of(curve, pixels) + "</g>";
}

/// A diamond and, beside it on the side where there is room, what it is.
std::string diamond(const PublishedPoint& published, const Pixels& pixels) {
  const double x = pixels.x(published.at.x), y = pixels.y(published.at.y);
  constexpr double kSize = 6;
  const bool is_left = x < 0.5 * kCurveWidth;
  return fmt::format(
             "<path class=\"published\" d=\"M{0} {2}L{1} {3}L{0} {4}L{5} {3}Z\"><title>{6}</title></path>",
             short_number(x), short_number(x + kSize), short_number(y - kSize), short_number(y),
             short_number(y + kSize), short_number(x - kSize),
             escaped(fmt::format("published: {}, {}", published.label, short_number(published.at.y)))) +
         text(is_left ? "mark-text" : "mark-text end", x + (is_left ? kSize : -kSize), y - kSize - 2,
              published.label);
}

}  // namespace

std::string curve_legend(const CurvePlot& plot) {
  std::string items;
  for (std::size_t i = 0; i < plot.curves.size(); ++i)
    items += fmt::format("<span><i class=\"line curve-{}\"></i>{}</span> ", i, escaped(plot.curves[i].label));
  if (!plot.published.empty()) items += "<span><b class=\"published\">◆</b> published</span>";
  return "<p class=\"legend\">" + items + "</p>";
}

std::string curve_figure(const CurvePlot& plot) {
  const Pixels pixels{plot};
  std::string svg = fmt::format(R"(<svg class="curves" viewBox="0 0 {} {}" role="img" aria-label="{}">)",
                                short_number(kCurveWidth), short_number(kCurveHeight), escaped(plot.title)) +
                    frame(pixels);
  for (std::size_t i = 0; i < plot.curves.size(); ++i)
    svg += curve_shapes(plot.curves[i], i, pixels);
  for (const PublishedPoint& published : plot.published)
    svg += diamond(published, pixels);
  return fmt::format(
      "<figure class=\"curve\"><figcaption><b>{}</b><span>{}</span></figcaption>\n{}</svg>\n{}</figure>\n",
      escaped(plot.title), escaped(plot.y.name), svg, plot.has_legend ? curve_legend(plot) : "");
}

const char* const kCurveStyle =
    R"(.plots { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(400px, 100%), 1fr)); gap: 18px 36px; }
figure.curve { display: block; }
figure.curve figcaption { margin-bottom: 4px; }
svg.curves { height: auto; }
svg.curves text { font-size: 12px; fill: var(--muted); stroke: none; }
svg.curves .tick-y { text-anchor: end; }
svg.curves .tick-x, svg.curves .axis-x { text-anchor: middle; }
.curve-0, .curve-6 { --fill: var(--cus); }
.curve-1, .curve-7 { --fill: var(--links); }
.curve-2 { --fill: var(--hbm); }
.curve-3 { --fill: var(--dispatch); }
.curve-4 { --fill: var(--cache); }
.curve-5 { --fill: var(--interaction); }
svg.curves g path { fill: none; stroke: var(--fill); stroke-width: 2; stroke-linejoin: round; }
svg.curves g .band { fill: var(--fill); stroke: none; opacity: .22; }
svg.curves g.curve-2 path, svg.curves g.curve-6 path, svg.curves g.curve-7 path { stroke-dasharray: 6 5; }
svg.curves .end { text-anchor: end; }
svg.curves circle { fill: var(--fill); stroke: var(--back); stroke-width: 1; }
.legend i.line { height: 3px; vertical-align: 4px; width: 18px; }
)";

}}  // namespace c3::results
