#include "results/report/plot.hpp"

#include <cmath>

#include <fmt/format.h>

#include "results/picoseconds.hpp"
#include "results/report/html.hpp"

namespace c3 { inline namespace results {
namespace {

std::string title_tag(std::string_view title) {
  return title.empty() ? "" : "<title>" + escaped(title) + "</title>";
}

std::string shape(std::string_view tag, const std::string& attributes, std::string_view title) {
  return title.empty() ? fmt::format("<{} {}/>", tag, attributes)
                       : fmt::format("<{0} {1}>{2}</{0}>", tag, attributes, title_tag(title));
}

}  // namespace

double TimeAxis::x(std::int64_t time) const {
  return kPlotWidth * static_cast<double>(time) / static_cast<double>(end);
}

std::string TimeAxis::text(std::int64_t time) const { return unit.format(seconds(time)); }

std::vector<std::int64_t> TimeAxis::ticks() const {
  constexpr double kMost = 10;
  const double least = static_cast<double>(end) / kMost;
  const double decade = std::pow(10.0, std::floor(std::log10(least)));
  double step = 10 * decade;
  for (const double factor : {5.0, 2.0, 1.0}) {
    if (factor * decade >= least) step = factor * decade;
  }
  std::vector<std::int64_t> ticks;
  for (double tick = 0; tick <= static_cast<double>(end); tick += step)
    ticks.push_back(std::llround(tick));
  return ticks;
}

std::string plot_begin(double height, std::string_view label) {
  return fmt::format(
      R"(<svg viewBox="0 0 {} {}" preserveAspectRatio="none" style="height:{}px" role="img" aria-label="{}">)",
      kPlotWidth, short_number(height), short_number(height), escaped(label));
}

std::string rectangle(std::string_view css_class, double x, double y, double width, double height,
                      std::string_view title) {
  return shape("rect",
               fmt::format(R"(class="{}" x="{}" y="{}" width="{}" height="{}")", css_class, short_number(x),
                           short_number(y), short_number(width), short_number(height)),
               title);
}

std::string step_area(std::string_view css_class, const std::vector<double>& shares, double bottom,
                      double height, std::string_view title) {
  const double width = static_cast<double>(kPlotWidth) / static_cast<double>(shares.size());
  std::string path = fmt::format("M0 {}", short_number(bottom));
  std::string level = short_number(bottom);
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const auto next = short_number(bottom - std::round(10 * height * shares[i]) / 10);
    if (next == level) continue;
    path += fmt::format("H{}V{}", short_number(static_cast<double>(i) * width), next);
    level = next;
  }
  path += fmt::format("H{}V{}Z", kPlotWidth, short_number(bottom));
  return shape("path", fmt::format(R"(class="{}" d="{}")", css_class, path), title);
}

std::string vertical(std::string_view css_class, double x, double height, std::string_view title) {
  return shape("path",
               fmt::format(R"(class="{}" d="M{} 0V{}")", css_class, short_number(x), short_number(height)),
               title);
}

std::string bound_line(double x, double height, std::string_view title) {
  return vertical("halo", x, height, "") + vertical("bound", x, height, title);
}

std::string grid(const TimeAxis& axis, double height) {
  std::string path;
  for (const auto tick : axis.ticks())
    path += fmt::format("M{} 0V{}", short_number(axis.x(tick)), short_number(height));
  return fmt::format(R"(<path class="grid" d="{}"/>)", path);
}

std::string tick_labels(const TimeAxis& axis) {
  std::string labels;
  const auto ticks = axis.ticks();
  for (std::size_t i = 0; i < ticks.size(); ++i) {
    const double left = 100 * axis.x(ticks[i]) / kPlotWidth;
    labels += fmt::format(R"(<span{} style="left:{}%">{}</span>)", i % 2 == 1 ? " class=\"odd\"" : "",
                          short_number(left), short_number(seconds(ticks[i]) / axis.unit.size));
  }
  return labels;
}

}}  // namespace c3::results
