#pragma once
/// Curves as SVG with its own axes and words. It keeps its shape: where results/report/plot.hpp stretches bars,
/// a curve's slope is to be seen.

#include <string>

#include "app/reproduce/conccl/curve_plot.hpp"

namespace c3 {

/// <figure> with title, axes, a line for each curve (CSS classes curve-0, curve-1 ..), published points as
/// diamonds, and a legend below. \p plot has curves with at least two points each.
std::string curve_figure(const CurvePlot& plot);

}  // namespace c3
