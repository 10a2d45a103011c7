#include <fmt/format.h>

#include <array>

#include "gpu/kernels/image_words.hpp"
#include "gpu/kernels/operator_class.hpp"
#include "gpu/kernels/pool/pool_kernel.hpp"

namespace c3 { inline namespace gpu {
namespace {

constexpr std::array<std::string_view, 2> kPoolNames = {"max_pool", "average_pool"};
constexpr std::array<std::string_view, 2> kTorchNames = {"max_pool2d", "avg_pool2d"};

PoolOp pool_named(std::string_view op) {
  return op == kPoolNames[0] || op == kTorchNames[0] ? PoolOp::max : PoolOp::average;
}

std::string pool_name(const PoolShape& shape) {
  return std::string(kPoolNames.at(shape.op == PoolOp::max ? 0 : 1));
}

Operator read_pool(const ShapeWords& words) {
  using enum ShapeKey;
  need(words, words[op], {dtype, channels, height, filter_h});
  const Extent2 filter = sides_of(words, filter_h, filter_w);
  const PoolShape shape{.op = pool_named(words[op]),
                        .batch = extent_or(words, b, 1),
                        .channels = extent(words, channels),
                        .image = sides_of(words, height, width),
                        .window = filter,
                        .stride = sides_of(words, stride_h, stride_w, filter),
                        .pad = pads_of(words, pad_h, pad_w),
                        .dtype = chosen<DType>(words, dtype),
                        .pass = chosen_or(words, pass, Pass::forward),
                        .layout = chosen_or(words, layout, ImageLayout::nchw)};
  if (shape.dtype == DType::fp8 || shape.dtype == DType::fp4)
    refuse(dtype, "must be bf16, fp16 or fp32 of a pool");
  if (const auto broken = broken_windows(shape)) refuse(broken->first, broken->second);
  const PoolBytes bytes = bytes_of(shape);
  refuse_absurd(b, (bytes.read + bytes.written).value, elements_of(shape).taps);
  return shape;
}

std::vector<ShapeField> pool_fields(const PoolShape& shape) {
  using enum ShapeKey;
  return {{dtype, name_of(shape.dtype)},  {b, shape.batch},           {channels, shape.channels},
          {height, shape.image.h},        {width, shape.image.w},     {filter_h, shape.window.h},
          {filter_w, shape.window.w},     {pad_h, shape.pad.h},       {pad_w, shape.pad.w},
          {stride_h, shape.stride.h},     {stride_w, shape.stride.w}, {pass, name_of(shape.pass)},
          {layout, name_of(shape.layout)}};
}

/// "32 of 64 x 112 x 112 fp16, windows of 3 x 3 stride 2 x 2 pad 1 x 1 nhwc backward"
std::string pool_text(const PoolShape& shape) {
  std::string text = fmt::format("{} of {} x {} {}, windows of {}", shape.batch, shape.channels,
                                 by(shape.image), name_of(shape.dtype), by(shape.window));
  if (shape.stride != shape.window) text += fmt::format(" stride {}", by(shape.stride));
  if (shape.pad != Extent2{0, 0}) text += fmt::format(" pad {}", by(shape.pad));
  if (shape.layout != ImageLayout::nchw) text += fmt::format(" {}", name_of(shape.layout));
  if (shape.pass == Pass::backward) text += " backward";
  return text;
}

Bytes pool_output(const PoolShape& shape) { return bytes_of(shape).written; }

std::string_view pool_coefficients(const PoolShape&) { return "vector"; }

GpuUse pool_uses(const PoolShape&, const GpuSpec&) { return use_of_vector_units("vector"); }

/// Passes, types and numbers of images of one layer are alike.
std::vector<std::int64_t> pool_numbers(const PoolShape& shape) {
  return {static_cast<std::int64_t>(shape.op),
          shape.channels,
          shape.image.h,
          shape.image.w,
          shape.window.h,
          shape.window.w,
          shape.pad.h,
          shape.pad.w,
          shape.stride.h,
          shape.stride.w,
          static_cast<std::int64_t>(shape.layout)};
}

/// Images are cut, never an image.
Operator part_of_pool(const PoolShape& shape, std::int64_t parts) {
  PoolShape cut = shape;
  cut.batch = (shape.batch + parts - 1) / parts;
  return cut;
}

}  // namespace

extern constexpr OperatorClass kPoolClass = {.name = "pool",
                                             .operators = kPoolNames,
                                             .aliases = kTorchNames,
                                             .read = read_pool,
                                             .fields = on_shape<&pool_fields>,
                                             .shape_text = on_shape<&pool_text>,
                                             .describe = on_shape<&describe_pool>,
                                             .output = on_shape<&pool_output>,
                                             .name_of = on_shape<&pool_name>,
                                             .coefficients = on_shape<&pool_coefficients>,
                                             .uses = on_shape<&pool_uses>,
                                             .shape_numbers = on_shape<&pool_numbers>,
                                             .part = on_shape<&part_of_pool>};

const OperatorClass& operator_class(const PoolShape&) { return kPoolClass; }

}}  // namespace c3::gpu
