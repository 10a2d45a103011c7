#include "gpu/kernels/convolution/convolution_shape.hpp"

#include <algorithm>
#include <stdexcept>

#include "gpu/kernels/tiling.hpp"

namespace c3 { inline namespace gpu {
namespace {

double product(auto... extents) { return (... * static_cast<double>(extents)); }

}  // namespace

Extent2 output_extent(const ConvolutionShape& shape) {
  return {windows_along({.image = shape.image.h,
                         .window = shape.filter.h,
                         .pad = shape.pad.h,
                         .stride = shape.stride.h,
                         .dilation = shape.dilation.h}),
          windows_along({.image = shape.image.w,
                         .window = shape.filter.w,
                         .pad = shape.pad.w,
                         .stride = shape.stride.w,
                         .dilation = shape.dilation.w})};
}

double direct_multiplications(const ConvolutionShape& shape) {
  const Extent2 out = output_extent(shape);
  return product(shape.batch, shape.filters, out.h, out.w, channels_of_group(shape), shape.filter.h,
                 shape.filter.w);
}

ConvolutionTensors tensors_of(const ConvolutionShape& shape) {
  const Extent2 out = output_extent(shape);
  return {.input = product(shape.batch, shape.channels, shape.image.h, shape.image.w),
          .filters = product(shape.filters, channels_of_group(shape), shape.filter.h, shape.filter.w),
          .output = product(shape.batch, shape.filters, out.h, out.w)};
}

double written_elements(const ConvolutionShape& shape) {
  const ConvolutionTensors tensors = tensors_of(shape);
  switch (shape.pass) {
    case ConvolutionPass::forward:
      return tensors.output;
    case ConvolutionPass::data:
      return tensors.input;
    case ConvolutionPass::weight:
      return tensors.filters;
  }
  throw std::logic_error("written_elements: unknown pass");
}

ConvolutionProduct product_of(const ConvolutionShape& shape) {
  const Extent2 out = output_extent(shape);
  const std::int64_t taps = shape.filter.h * shape.filter.w;
  const std::int64_t channels = channels_of_group(shape);
  const std::int64_t filters = filters_of_group(shape);
  const std::int64_t outputs = shape.batch * out.h * out.w;
  switch (shape.pass) {
    case ConvolutionPass::forward:
      return {.m = filters, .n = outputs, .k = channels * taps, .count = shape.groups};
    case ConvolutionPass::weight:
      return {.m = filters, .n = channels * taps, .k = outputs, .count = shape.groups};
    case ConvolutionPass::data: {
      // A pixel sees every stride-th tap along each axis; pixels that see none are only zeroed.
      const Extent2 phases = {std::min(shape.stride.h, shape.filter.h),
                              std::min(shape.stride.w, shape.filter.w)};
      const std::int64_t seen =
          ceil_div(shape.filter.h, shape.stride.h) * ceil_div(shape.filter.w, shape.stride.w);
      const std::int64_t pixels =
          shape.batch * ceil_div(shape.image.h, shape.stride.h) * ceil_div(shape.image.w, shape.stride.w);
      return {.m = channels, .n = pixels, .k = filters * seen, .count = shape.groups * phases.h * phases.w};
    }
  }
  throw std::logic_error("product_of: unknown pass");
}

}}  // namespace c3::gpu
