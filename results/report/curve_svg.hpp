#pragma once
/// Curves as SVG with its own axes and words. It keeps its shape: where plot.hpp stretches bars, a curve's
/// slope is to be seen.

#include <string>

#include "results/report/curve_plot.hpp"

namespace c3 { inline namespace results {

/// <figure> with title, axes, a line for each curve (CSS classes curve-0, curve-1 ..), published points as
/// diamonds, and a legend below if the plot has one.
std::string curve_figure(const CurvePlot& plot);

/// A legend that names the curves.
std::string curve_legend(const CurvePlot& plot);

/// For the figures of a page that has kReportStyle.
extern const char* const kCurveStyle;
/// Curves whose colours differ, or that are dashed.
inline constexpr std::size_t kCurveStyles = 8;

}}  // namespace c3::results
