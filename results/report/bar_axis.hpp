#pragma once
/// Bars of a table that share one axis of values, each in a cell of its own.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace c3 { inline namespace results {

inline constexpr double kBarHeight = 26;  ///< pixels

/// Spans \c low to \c high, which differ.
struct BarAxis {
  double low = 0.0, high = 1.0;

  void hold(std::optional<double> value);  ///< widens the axis until it contains \p value
  double x(double value) const;            ///< position in units of kPlotWidth
  std::string left(double value) const;    ///< the same in percent of the width, for CSS
  std::vector<double> ticks() const;       ///< round values, about six
};

/// Faint lines at the ticks, as high as a bar's cell.
std::string bar_grid(const BarAxis& axis);
/// The numbers above or below the bars.
std::string bar_ticks(const BarAxis& axis);
/// A bar between two values, whichever is the greater. \p title is the tooltip.
std::string value_bar(std::string_view css_class, double from, double to, double y, double height,
                      const BarAxis& axis, std::string_view title);
/// A line from \p low to \p high with a stroke at each end, in the middle of the cell.
std::string whisker(const BarAxis& axis, double low, double high);

/// For the whiskers and numbers of a page that has kReportStyle.
extern const char* const kBarStyle;

}}  // namespace c3::results
