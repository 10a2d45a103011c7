#pragma once
/// Slices of one stream or copy engine as rectangles.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/enum_names.hpp"
#include "results/report/plot.hpp"
#include "results/report/timeline.hpp"

namespace c3 { inline namespace results {

/// What a slice is, by colour.
enum class SliceColour : std::uint8_t { compute, comm, wait };
constexpr auto enum_names(SliceColour) {
  return std::to_array<EnumName<SliceColour>>(
      {{"compute", SliceColour::compute}, {"comm", SliceColour::comm}, {"wait", SliceColour::wait}});
}

/// A slice as it is drawn: itself, or several in a row that are each narrower than a pixel.
struct DrawnSlice {
  const Slice* first = nullptr;
  std::size_t count = 1;
  std::int64_t end = 0;
  /// How long each colour lasts in all slices [ps].
  std::array<std::int64_t, kEnumNames<SliceColour>.size()> lasts = {};
};

/// Slices narrower than a unit are joined with narrow neighbours that are less than a unit away.
std::vector<DrawnSlice> drawn_slices(const std::vector<Slice>& slices, const TimeAxis& axis);

/// Lines where a slice follows another at once.
std::string slice_edges(const std::vector<DrawnSlice>& drawn, const TimeAxis& axis, double y, double height);

/// A rectangle for the wait before the first part, one for the rest. Several slices get a rectangle for each
/// colour, as high as its share of their time.
std::string slice_shapes(const DrawnSlice& drawn, const TimeAxis& axis, double y, double height);

}}  // namespace c3::results
