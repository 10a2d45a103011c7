#include "results/report/lane_plot.hpp"

#include <algorithm>
#include <numeric>
#include <string_view>

#include <fmt/format.h>

#include "results/report/html.hpp"
#include "results/report/value_scale.hpp"

namespace c3 { inline namespace results {
namespace {

constexpr double kThinnest = 0.5;  ///< units: a slice that short is still seen

SliceColour colour_of(const Slice& slice) {
  if (slice.kind == "kernel") return SliceColour::compute;
  return slice.kind == "wait" ? SliceColour::wait : SliceColour::comm;
}

std::int64_t& lasts(DrawnSlice& drawn, const Slice& slice) {
  return drawn.lasts.at(static_cast<std::size_t>(colour_of(slice)));
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

std::string merged_shapes(const DrawnSlice& drawn, const TimeAxis& axis, double y, double width,
                          double height) {
  const auto all = std::accumulate(drawn.lasts.begin(), drawn.lasts.end(), std::int64_t{0});
  const double start = axis.x(drawn.first->start);
  auto title = fmt::format("{} slices, each too short to be drawn\nfirst: {}\n{}", drawn.count,
                           drawn.first->name, span_text(axis, drawn.first->start, drawn.end));
  std::string shapes;
  for (const SliceColour colour : enum_values<SliceColour>()) {
    const std::int64_t lasts = drawn.lasts.at(static_cast<std::size_t>(colour));
    // Slices that take no time have the colour of the first.
    const double share = all > 0 ? static_cast<double>(lasts) / static_cast<double>(all)
                                 : static_cast<double>(colour == colour_of(*drawn.first));
    if (share <= 0.0) continue;
    shapes += rectangle(name_of(colour), start, y, width, share * height, "");
    y += share * height;
    if (all > 0) title += fmt::format("\n{}: {:.0f}%", name_of(colour), 100 * share);
  }
  return fmt::format("<g class=\"merged\"><title>{}</title>{}</g>", escaped(title), shapes);
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
    lasts(drawn.back(), slice) += slice.end - slice.start;
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
  if (drawn.count > 1) return merged_shapes(drawn, axis, y, end - start, height);
  const auto title = tooltip(slice, axis);
  const std::string_view colour = name_of(colour_of(slice));
  const double running = axis.x(slice.running);
  std::string shapes;
  if (running - start >= kThinnest)
    shapes += rectangle(std::string(colour) + " waiting", start, y, running - start, height, title);
  const double from = shapes.empty() ? start : running;
  return shapes + rectangle(colour, from, y, std::max(end - from, kThinnest), height, title);
}

}}  // namespace c3::results
