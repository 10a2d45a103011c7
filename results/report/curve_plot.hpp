#pragma once
/// Curves over one axis, as data: what curve_svg.hpp draws.

#include <string>
#include <vector>

namespace c3 { inline namespace results {

struct CurvePoint {
  double x = 0.0, y = 0.0;   ///< y NaN: there is no value, and the line is broken there
  double low = 0, high = 0;  ///< of a curve with a band
  std::string title = {};    ///< what a reader is told of the point
  bool stands_out = false;   ///< drawn larger
};

struct Curve {
  std::string label;
  std::vector<CurvePoint> points;  ///< in the order of x
  bool has_band = false;           ///< from low to high around the line
  bool has_line = true;            ///< else dots alone
};

/// A number that others published, at its place among the curves.
struct PublishedPoint {
  std::string label;
  CurvePoint at;
};

struct AxisTick {
  double at = 0.0;
  std::string text;
};

/// From \c low to \c high, which differ; both above 0 where it is logarithmic.
struct CurveAxis {
  std::string name;  ///< with its unit
  double low = 0.0, high = 1.0;
  bool is_log = false;
  std::vector<AxisTick> ticks = {};

  double share(double value) const;  ///< of the way from low to high
};

struct CurvePlot {
  std::string title;
  CurveAxis x, y;
  std::vector<Curve> curves;
  std::vector<PublishedPoint> published = {};
  std::vector<std::string> notes = {};
  bool has_legend = true;
};

/// The least of 1, 2, 5, 10 .. that is not below \p least, above 0.
double round_step(double least);

/// From at or below \p low, and from 0 where that is not far, to at or above \p high, by round steps. A
/// logarithmic one by 1, 2, 5 of each decade.
CurveAxis value_axis(std::string name, double low, double high, bool is_log);

/// From 0, or below where \p low is, to \p high and a little, by round steps.
CurveAxis axis_from_zero(std::string name, double low, double high);

/// From the least of \p values to the greatest, with a tick at every one, or every second or third .., so
/// that their \p labels have room on a plot. \p values rise.
CurveAxis level_axis(std::string name, const std::vector<double>& values,
                     const std::vector<std::string>& labels, bool is_log);

/// Pixels of a plot of its own size, which the page may stretch.
inline constexpr double kCurveWidth = 460, kCurveHeight = 300;
inline constexpr double kCurveLeft = 40, kCurveRight = 14, kCurveTop = 12, kCurveBottom = 42;

}}  // namespace c3::results
