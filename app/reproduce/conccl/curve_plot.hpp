#pragma once
/// Curves of the study, as data: what a page draws.

#include <string>
#include <vector>

namespace c3 {

struct CurvePoint {
  double x = 0.0, y = 0.0;
};

struct Curve {
  std::string label;
  std::vector<CurvePoint> points;  ///< in the order of x
};

/// A number that others published, at its place among the curves.
struct PublishedPoint {
  std::string label;
  CurvePoint at;
};

/// Curves over one axis.
struct CurvePlot {
  std::string title;
  std::string x, y;          ///< what the axes are, with units
  bool is_of_sizes = false;  ///< whether x is bytes, in powers of two
  std::vector<Curve> curves;
  std::vector<PublishedPoint> published = {};
  std::vector<std::string> notes = {};
};

}  // namespace c3
