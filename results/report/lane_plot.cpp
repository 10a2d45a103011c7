#include "results/report/lane_plot.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "results/report/html.hpp"
#include "results/report/value_scale.hpp"

namespace c3::inline results {
namespace {

constexpr double kThinnest = 0.5;  ///< units: a slice that short is still seen

std::string css_class(const Slice& slice) {
  if (slice.kind == "kernel") return "compute";
  return slice.kind == "wait" ? "wait" : "comm";
}

std::string span_text(const TimeAxis& axis, std::int64_t start, std::int64_t end) {
  return fmt::format("{} to {} {}, for {}", axis.text(start), axis.text(end), axis.unit.name,
                     axis.text(end - start));
}

std::string tooltip(const Slice& slice, const TimeAxis& axis) {
  auto text = fmt::format("{}\n{}: {}", slice.name, slice.kind, span_text(axis, slice.start, slice.end));
  if (slice.running > slice.start) text += fmt::format("\nfirst part runs from {}", axis.text(slice.running));
  if (slice.bytes > 0) text += "\n" + with_prefix(slice.bytes, "B");
  if (slice.flops > 0) text += "\n" + with_prefix(slice.flops, "flop");
  for (const auto& reason : slice.released_by)
    text += "\nreleased by " + reason;
  for (const auto& reason : slice.waited_for)
    text += "\nwaited for " + reason;
  return text;
}

}  // namespace

std::vector<DrawnSlice> drawn_slices(const std::vector<Slice>& slices, const TimeAxis& axis) {
  const auto is_narrow = [&](std::int64_t start, std::int64_t end) { return axis.x(end - start) < 1; };
  std::vector<DrawnSlice> drawn;
  for (const auto& slice : slices) {
    const bool joins = !drawn.empty() && is_narrow(slice.start, slice.end) &&
                       is_narrow(drawn.back().end, slice.start) &&
                       (drawn.back().count > 1 || is_narrow(drawn.back().first->start, drawn.back().end));
    if (joins) {
      ++drawn.back().count;
      drawn.back().end = std::max(drawn.back().end, slice.end);
    } else {
      drawn.push_back({.first = &slice, .count = 1, .end = slice.end});
    }
  }
  return drawn;
}

std::string slice_edges(const std::vector<DrawnSlice>& drawn, const TimeAxis& axis, double y, double height) {
  constexpr double kWide = 4;  // units: a line would hide what is narrower
  std::string path;
  for (std::size_t i = 1; i < drawn.size(); ++i) {
    const double start = axis.x(drawn[i].first->start);
    if (axis.x(drawn[i].end) - start < kWide || start - axis.x(drawn[i - 1].end) > 1) continue;
    path += fmt::format("M{} {}v{}", short_number(start), short_number(y), short_number(height));
  }
  return path.empty() ? "" : fmt::format(R"(<path class="edge" d="{}"/>)", path);
}

std::string slice_shapes(const DrawnSlice& drawn, const TimeAxis& axis, double y, double height) {
  const auto& slice = *drawn.first;
  const double start = axis.x(slice.start), end = std::max(axis.x(drawn.end), start + kThinnest);
  if (drawn.count > 1) {
    const auto title = fmt::format("{} slices, each too short to be drawn\nfirst: {}\n{}", drawn.count,
                                   slice.name, span_text(axis, slice.start, drawn.end));
    return rectangle(css_class(slice) + " merged", start, y, end - start, height, title);
  }
  const auto title = tooltip(slice, axis);
  const double running = axis.x(slice.running);
  std::string shapes;
  if (running - start >= kThinnest)
    shapes += rectangle(css_class(slice) + " waiting", start, y, running - start, height, title);
  const double from = shapes.empty() ? start : running;
  return shapes + rectangle(css_class(slice), from, y, std::max(end - from, kThinnest), height, title);
}

}  // namespace c3::results
