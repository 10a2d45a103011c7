#include "gpu/kernels/image_words.hpp"

#include <fmt/format.h>

namespace c3 { inline namespace gpu {
namespace {

/// Sums and products of a few sides stay far from what 64 bits hold.
std::int64_t bounded_side(ShapeKey key, std::int64_t side) {
  constexpr std::int64_t kLargestSide = std::int64_t{1} << 20U;
  if (side > kLargestSide) refuse(key, fmt::format("must be at most 2^20 of images, not {}", side));
  return side;
}

}  // namespace

Extent2 sides_of(const ShapeWords& words, ShapeKey first, ShapeKey second, Extent2 otherwise) {
  const std::int64_t h = bounded_side(first, extent_or(words, first, otherwise.h));
  return {h, bounded_side(second, extent_or(words, second, words.has(first) ? h : otherwise.w))};
}

Extent2 pads_of(const ShapeWords& words, ShapeKey first, ShapeKey second) {
  const std::int64_t h = bounded_side(first, count_or(words, first, 0));
  return {h, bounded_side(second, count_or(words, second, h))};
}

std::string by(const Extent2& extent) { return fmt::format("{} x {}", extent.h, extent.w); }

}}  // namespace c3::gpu
