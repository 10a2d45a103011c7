/// Rows of `c3sim collective` as a page of curves.

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "app/collective/collective_rows.hpp"
#include "results/report/curve_svg.hpp"
#include "results/report/html.hpp"
#include "results/report/style.hpp"

namespace c3 { inline namespace app {
namespace {

using Value = double (*)(const CollectiveRow& row, Seconds time, int members);

double busbw_of(const CollectiveRow& row, Seconds time, int members) {
  return bus_bandwidth(row.call, members, time).value / 1e9;
}
double time_of(const CollectiveRow& /*row*/, Seconds time, int /*members*/) { return time.value * 1e6; }

/// "64 KiB": sizes are mostly powers of two.
std::string size_text(Bytes bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  constexpr double kStep = 1024.0;
  double size = bytes.value;
  std::size_t unit = 0;
  for (; size >= kStep && unit + 1 < std::size(kUnits); ++unit)
    size /= kStep;
  return fmt::format("{:.3g} {}", size, kUnits[unit]);
}

CurvePoint point_of(const CollectiveRow& row, double value, const std::string& what) {
  return {.x = row.call.bytes.value,
          .y = value,
          .title = fmt::format("{}: {} {}", size_text(row.call.bytes), short_number(value), what)};
}

/// One curve for each wish, and the measured table before them.
std::vector<Curve> curves_of(const CollectiveRequest& request, const CollectiveRows& found, Value value,
                             const std::string& unit) {
  std::vector<Curve> curves;
  if (request.measured() != nullptr) {
    Curve measured{.label = "measured", .points = {}};
    for (const CollectiveRow& row : found.rows)
      if (row.wish == 0)
        measured.points.push_back(point_of(row, value(row, row.measured->time, request.members), unit));
    curves.push_back(std::move(measured));
  }
  for (std::size_t wish = 0; wish < found.wishes.size(); ++wish) {
    Curve curve{.label = label_of(found.wishes[wish]), .points = {}};
    for (const CollectiveRow& row : found.rows)
      if (row.wish == wish) {
        const std::string method = fmt::format("{}, {}", unit, name_of(row.how.method.algorithm));
        curve.points.push_back(point_of(row, value(row, row.here.time, request.members), method));
      }
    curves.push_back(std::move(curve));
  }
  return curves;
}

std::vector<Curve> error_curves(const CollectiveRows& found) {
  std::vector<Curve> curves;
  for (std::size_t wish = 0; wish < found.wishes.size(); ++wish) {
    Curve curve{.label = label_of(found.wishes[wish]), .points = {}};
    for (const CollectiveRow& row : found.rows)
      if (row.wish == wish) curve.points.push_back(point_of(row, row.error(), "%"));
    curves.push_back(std::move(curve));
  }
  return curves;
}

CurveAxis sizes_axis(const CollectiveRequest& request) {
  std::vector<double> sizes;
  std::vector<std::string> labels;
  // Sorted by size; a table may have one with several data types.
  for (const CollectiveCall& call : request.sized) {
    if (!sizes.empty() && sizes.back() >= call.bytes.value) continue;
    sizes.push_back(call.bytes.value);
    labels.push_back(size_text(call.bytes));
  }
  return level_axis("size", sizes, labels, true);
}

std::string figure(const std::string& title, const CollectiveRequest& request, std::vector<Curve> curves,
                   const std::string& name, bool is_log) {
  double low = curves.front().points.front().y, high = low;
  for (const Curve& curve : curves)
    for (const CurvePoint& point : curve.points) {
      low = std::min(low, point.y);
      high = std::max(high, point.y);
    }
  return curve_figure({.title = title,
                       .x = sizes_axis(request),
                       .y = is_log ? value_axis(name, low, high, true) : axis_from_zero(name, low, high),
                       .curves = std::move(curves)});
}

}  // namespace

std::string collective_page(const CollectiveRequest& request, const CollectiveRows& found) {
  const std::string title =
      fmt::format("{} on {}, {} ranks", name_of(request.call.kind), title_of(request.cluster), request.members);
  std::string figures;
  if (request.sized.size() > 1) {
    figures += figure("Bus bandwidth", request, curves_of(request, found, busbw_of, "GB/s"), "GB/s", false);
    figures += figure("Time", request, curves_of(request, found, time_of, "us"), "us", true);
    if (request.measured() != nullptr)
      figures += figure("Error of the time", request, error_curves(found), "%", false);
  }
  const std::string beside = request.measured() != nullptr ? ", beside " + request.measured()->table.name : "";
  return page_begin(title, std::string(kReportStyle) + kCurveStyle) +
         fmt::format("<section>\n<h1>{}{}</h1>\n<div class=\"plots\">\n{}</div>\n<pre>{}</pre>\n</section>\n",
                     escaped(title), escaped(beside), figures, escaped(collective_text(request, found))) +
         kPageEnd;
}

}}  // namespace c3::app
