#include "gpu/kernels/convolution/touched_images.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace c3 { inline namespace gpu {
namespace {

double product(auto... extents) { return (... * static_cast<double>(extents)); }

/// Images of one side of a convolution.
struct Images {
  std::string name;
  std::int64_t batch, channels;
  Extent2 extent;
  ImageLayout layout;
  Bytes element;

  double pixels() const { return product(extent.h, extent.w); }
  Bytes bytes() const { return element * (product(batch, channels) * pixels()); }
};

Images images_of(const ConvolutionShape& shape) {
  return {image_name(shape.pass),   shape.batch, shape.channels, shape.image, shape.layout,
          element_size(shape.dtype)};
}
Images results_of(const ConvolutionShape& shape) {
  return {result_name(shape.pass), shape.batch,  shape.filters,
          output_extent(shape),    shape.layout, element_size(shape.dtype)};
}

std::int64_t rounded(double count) { return std::llround(count); }

TouchedTensor some_channels(const Images& of, std::int64_t channels) {
  const auto all = static_cast<double>(of.channels), some = static_cast<double>(channels);
  const Footprint footprint =
      of.layout == ImageLayout::nchw
          ? pieces(of.batch, some * of.pixels(), all * of.pixels(), of.element)
          : pieces(rounded(static_cast<double>(of.batch) * of.pixels()), some, all, of.element);
  return {of.name, of.bytes(), false, footprint};
}

TouchedTensor some_pixels(const Images& of, std::int64_t pixels) {
  const auto all = static_cast<double>(of.channels), some = static_cast<double>(pixels);
  const Footprint footprint = of.layout == ImageLayout::nchw
                                  ? pieces(of.channels, some, of.pixels(), of.element)
                                  : pieces(1, some * all, of.pixels() * all, of.element);
  return {of.name, of.bytes(), false, footprint};
}

TouchedTensor tiles(const Images& of) {
  const auto all = static_cast<double>(of.channels), tile = static_cast<double>(kColumnsOfTile);
  const Footprint footprint =
      of.layout == ImageLayout::nchw
          ? pieces(of.batch * of.channels, tile, of.pixels(), of.element)
          : pieces(rounded(static_cast<double>(of.batch) * of.pixels()), tile, all, of.element);
  return {of.name, of.bytes(), true, footprint};
}

/// A row for each filter, of its channels' taps. Forward goes along rows, the data pass across.
TouchedTensor filters_of(const ConvolutionShape& shape, std::int64_t channels) {
  const Bytes element = element_size(shape.dtype);
  const double taps = product(shape.filter.h, shape.filter.w);
  const double row = static_cast<double>(channels_of_group(shape)) * taps;
  const Footprint footprint = shape.pass == ConvolutionPass::data
                                  ? pieces(std::min(channels, shape.filters), row, row, element)
                                  : pieces(shape.filters, static_cast<double>(channels) * taps, row, element);
  return {"filters", element * tensors_of(shape).filters, false, footprint};
}

}  // namespace

std::vector<TouchedTensor> touched_by(const ConvolutionShape& shape, StepOfLoop step) {
  switch (shape.pass) {
    case ConvolutionPass::forward:
      return {some_channels(images_of(shape), step.channels), filters_of(shape, step.channels),
              tiles(results_of(shape))};
    case ConvolutionPass::data:
      return {some_channels(results_of(shape), step.channels), filters_of(shape, step.channels),
              tiles(images_of(shape))};
    case ConvolutionPass::weight:
      break;
  }
  return {some_pixels(images_of(shape), step.pixels), some_pixels(results_of(shape), step.pixels),
          streamed("filter gradient", element_size(shape.dtype) * tensors_of(shape).filters, true)};
}

std::string image_name(ConvolutionPass pass) {
  return pass == ConvolutionPass::data ? "input gradient" : "input";
}
std::string result_name(ConvolutionPass pass) {
  return pass == ConvolutionPass::forward ? "output" : "output gradient";
}

TouchedTensor streamed(std::string name, Bytes bytes, bool is_written) {
  return {std::move(name), bytes, is_written, pieces(1, bytes.value, bytes.value, Bytes{1.0})};
}

TouchedTensor across(std::string name, double rows, double columns, Bytes element, bool is_written) {
  constexpr double kColumns = 32.0;
  return {std::move(name), element * (rows * columns), is_written,
          pieces(rounded(rows), kColumns, columns, element)};
}

}}  // namespace c3::gpu
