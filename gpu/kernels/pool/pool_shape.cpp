#include "gpu/kernels/pool/pool_shape.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace c3 { inline namespace gpu {
namespace {

WindowAxis down(const PoolShape& shape) {
  return {.image = shape.image.h, .window = shape.window.h, .pad = shape.pad.h, .stride = shape.stride.h};
}

WindowAxis across(const PoolShape& shape) {
  return {.image = shape.image.w, .window = shape.window.w, .pad = shape.pad.w, .stride = shape.stride.w};
}

/// Of all windows together, how many of their elements lie in the image.
double taps_along(const WindowAxis& axis) {
  std::int64_t sum = 0;
  for (std::int64_t i = 0, windows = windows_along(axis); i < windows; ++i) {
    const std::int64_t begin = i * axis.stride - axis.pad;
    sum +=
        std::max<std::int64_t>(0, std::min(begin + axis.window, axis.image) - std::max<std::int64_t>(begin, 0));
  }
  return static_cast<double>(sum);
}

}  // namespace

Extent2 output_extent(const PoolShape& shape) {
  return {windows_along(down(shape)), windows_along(across(shape))};
}

std::optional<std::pair<ShapeKey, std::string>> broken_windows(const PoolShape& shape) {
  const auto too_wide = [](std::int64_t window) {
    return fmt::format("must be at most half the window, {}", window / 2);
  };
  if (2 * shape.pad.h > shape.window.h) return std::pair(ShapeKey::pad_h, too_wide(shape.window.h));
  if (2 * shape.pad.w > shape.window.w) return std::pair(ShapeKey::pad_w, too_wide(shape.window.w));
  const Extent2 out = output_extent(shape);
  if (out.h < 1) return std::pair(ShapeKey::filter_h, "the window is higher than the padded input");
  if (out.w < 1) return std::pair(ShapeKey::filter_w, "the window is wider than the padded input");
  return std::nullopt;
}

PoolElements elements_of(const PoolShape& shape) {
  const double images = static_cast<double>(shape.batch) * static_cast<double>(shape.channels);
  const Extent2 out = output_extent(shape);
  const auto height = static_cast<double>(shape.image.h);
  const auto width = static_cast<double>(shape.image.w);
  const double rows = taps_along(down(shape));
  return {.input = images * height * width,
          .output = images * static_cast<double>(out.h) * static_cast<double>(out.w),
          .rows = images * rows * static_cast<double>(out.w),
          .taps = images * rows * taps_along(across(shape)),
          .seen = images * width * (shape.stride.h > shape.window.h ? std::min(rows, height) : height)};
}

Bytes pool_index(PoolOp op) { return op == PoolOp::max ? Bytes{8} : Bytes{}; }

PoolBytes bytes_of(const PoolShape& shape) {
  const PoolElements elements = elements_of(shape);
  const Bytes element = element_size(shape.dtype);
  const Bytes outputs = (element + pool_index(shape.op)) * elements.output;
  if (shape.pass == Pass::forward) return {element * elements.seen, outputs};
  return {outputs, element * elements.input};
}

}}  // namespace c3::gpu
