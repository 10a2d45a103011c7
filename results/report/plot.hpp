#pragma once
/// SVG that stretches with the page: x is in units of which kPlotWidth make the width of a plot, y in pixels.
/// Words are not in it, because they would stretch too: they are HTML beside or above it.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "results/time_unit.hpp"

namespace c3 { inline namespace results {

/// A plot is about as many pixels wide on a large screen: what is narrower than a unit cannot be seen there.
inline constexpr int kPlotWidth = 1200;

/// Spans 0 to \p end, the same for everything that is compared.
struct TimeAxis {
  std::int64_t end = 1;  ///< ps
  TimeUnit unit;

  double x(std::int64_t time) const;  ///< units
  std::string text(std::int64_t time) const;
  std::vector<std::int64_t> ticks() const;  ///< ps, from 0, at most ten
};

/// <svg> of a plot, \p height pixels high, and its description for screen readers.
std::string plot_begin(double height, std::string_view label);
inline constexpr const char* kPlotEnd = "</svg>";

/// A rectangle with a tooltip. \p title may be empty.
std::string rectangle(std::string_view css_class, double x, double y, double width, double height,
                      std::string_view title);
/// A filled step chart of \p shares (0 to 1) of equal widths, at most \p height high, standing on \p bottom.
std::string step_area(std::string_view css_class, const std::vector<double>& shares, double bottom,
                      double height, std::string_view title);
/// A vertical line over the whole height of the plot.
std::string vertical(std::string_view css_class, double x, double height, std::string_view title);
/// The lower bound: a line that is seen on bars, too.
std::string bound_line(double x, double height, std::string_view title);
/// Faint lines at the ticks.
std::string grid(const TimeAxis& axis, double height);
/// The numbers below the last plot of a stack.
std::string tick_labels(const TimeAxis& axis);

}}  // namespace c3::results
