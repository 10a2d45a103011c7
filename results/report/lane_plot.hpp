#pragma once
/// Slices of one stream or copy engine as rectangles.

#include <string>
#include <vector>

#include "results/report/plot.hpp"
#include "results/report/timeline.hpp"

namespace c3::inline results {

/// A slice as it is drawn: itself, or one of several in a row that are each narrower than a pixel.
struct DrawnSlice {
  const Slice* first = nullptr;
  std::size_t count = 1;
  std::int64_t end = 0;
};

/// Slices narrower than a unit are joined with narrow neighbours that are less than a unit away.
std::vector<DrawnSlice> drawn_slices(const std::vector<Slice>& slices, const TimeAxis& axis);

/// Lines where a slice follows another at once.
std::string slice_edges(const std::vector<DrawnSlice>& drawn, const TimeAxis& axis, double y, double height);

/// A rectangle for the wait before the first part, one for the rest.
std::string slice_shapes(const DrawnSlice& drawn, const TimeAxis& axis, double y, double height);

}  // namespace c3::results
