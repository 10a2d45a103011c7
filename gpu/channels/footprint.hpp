#pragma once
/// Which addresses of a tensor are touched at about the same time.

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/units.hpp"

namespace c3 { inline namespace gpu {

/// Pieces of `extent` neighbouring bytes: `rows` of them `stride` apart, and of such rows `planes`,
/// `plane_stride` apart. What work groups touch at about the same time, in the order of the addresses.
struct Footprint {
  std::int64_t start = 0;
  std::int64_t extent = 0;  ///< > 0
  std::int64_t rows = 1;
  std::int64_t stride = 0;
  std::int64_t planes = 1;
  std::int64_t plane_stride = 0;

  std::int64_t bytes() const { return extent * rows * planes; }
  bool operator==(const Footprint&) const = default;
};

inline constexpr std::int64_t kStepOfProduct = 64;      ///< elements of K that a product goes through at a time
inline constexpr std::int64_t kColumnsOfTile = 256;     ///< of a product's result that are written together
inline constexpr std::int64_t kMostRows = 4096;         ///< of a footprint: it repeats long before
inline constexpr std::int64_t kLongestPiece = 1 << 20;  ///< B; from here on a piece is in all channels

/// `rows` pieces of \p elements of \p element, one each \p pitch elements.
inline Footprint pieces(std::int64_t rows, double elements, double pitch, Bytes element) {
  const auto bytes = [element](double count) { return static_cast<std::int64_t>(count * element.value + 0.5); };
  return {.start = 0,
          .extent = std::clamp<std::int64_t>(bytes(std::min(elements, pitch)), 1, kLongestPiece),
          .rows = std::clamp<std::int64_t>(rows, 1, kMostRows),
          .stride = bytes(pitch)};
}

/// A tensor that a kernel reads or writes.
struct TouchedTensor {
  std::string name;  ///< of its call's tensors: "filters"
  Bytes bytes;       ///< of all of it
  bool is_written = false;
  Footprint footprint;  ///< `start` counts from that of the tensor
};

/// What a part of a call reads and writes at addresses, all at about the same time.
struct TouchedPhase {
  std::string name;  ///< of a phase of a call; empty: the kernel itself
  std::vector<TouchedTensor> operands;
};

}}  // namespace c3::gpu
