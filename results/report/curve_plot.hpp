#pragma once
/// Curves over one axis, as data: what curve_svg.hpp draws.

#include <string>
#include <vector>

namespace c3 { inline namespace results {

struct CurvePoint {
  double x = 0.0, y = 0.0;   ///< y NaN: there is no value, and the line is broken there
  double low = 0, high = 0;  ///< only for a curve with a band
  std::string title = {};    ///< what a reader is told of the point
  bool stands_out = false;   ///< drawn larger
};

struct Curve {
  std::string label;
  std::vector<CurvePoint> points;  ///< sorted by x
  bool has_band = false;           ///< the band lies between low and high around the line
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

/// Spans \c low to \c high, which differ; both above 0 where it is logarithmic.
struct CurveAxis {
  std::string name;  ///< with its unit
  double low = 0.0, high = 1.0;
  bool is_log = false;
  std::vector<AxisTick> ticks = {};

  double share(double value) const;  ///< position between low and high, 0 to 1
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

/// An axis that starts at or below \p low (at 0 where that is not far) and ends at or above \p high, by round
/// steps. A logarithmic one has steps 1, 2, 5 of each decade.
CurveAxis value_axis(std::string name, double low, double high, bool is_log);

/// An axis that starts at 0, or below where \p low is, and ends a little above \p high, by round steps.
CurveAxis axis_from_zero(std::string name, double low, double high);

/// An axis between the least and the greatest of \p values, which rise, with a tick at every one, or every
/// second or third .., so that their \p labels have room on a plot.
CurveAxis level_axis(std::string name, const std::vector<double>& values,
                     const std::vector<std::string>& labels, bool is_log);

/// Pixels of a plot of its own size, which the page may stretch.
inline constexpr double kCurveWidth = 460, kCurveHeight = 300;
inline constexpr double kCurveLeft = 40, kCurveRight = 14, kCurveTop = 12, kCurveBottom = 42;

}}  // namespace c3::results
