#pragma once
/// Images, and windows that slide over them: filters of convolutions, and what pools take together.

#include <cstdint>

#include "base/enum_names.hpp"

namespace c3 { inline namespace gpu {

/// Whether a pixel's channels lie together.
enum class ImageLayout : std::uint8_t { nchw, nhwc };
constexpr auto enum_names(ImageLayout) {
  return std::to_array<EnumName<ImageLayout>>({{"nchw", ImageLayout::nchw}, {"nhwc", ImageLayout::nhwc}});
}

/// Of an image, a filter, a window or a step.
struct Extent2 {
  std::int64_t h = 1;
  std::int64_t w = 1;

  bool operator==(const Extent2&) const = default;
};

/// How windows lie along one axis of an image.
struct WindowAxis {
  std::int64_t image = 1;     ///< elements
  std::int64_t window = 1;    ///< elements of a window
  std::int64_t pad = 0;       ///< elements in front of the image and behind it
  std::int64_t stride = 1;    ///< elements from one window to the next
  std::int64_t dilation = 1;  ///< elements from one of a window's elements to its next
};

/// How many windows fit; 0 where none does. A rest at the end that holds no whole window has none.
constexpr std::int64_t windows_along(const WindowAxis& axis) {
  const std::int64_t room = axis.image + 2 * axis.pad - (axis.dilation * (axis.window - 1) + 1);
  return room < 0 ? 0 : room / axis.stride + 1;
}

}}  // namespace c3::gpu
