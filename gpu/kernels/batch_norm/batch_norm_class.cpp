#include <fmt/format.h>

#include <array>

#include "gpu/kernels/batch_norm/batch_norm_kernel.hpp"
#include "gpu/kernels/image_words.hpp"
#include "gpu/kernels/operator_class.hpp"

namespace c3 { inline namespace gpu {
namespace {

constexpr std::array<std::string_view, 1> kNormNames = {"batch_norm"};
constexpr std::array<std::string_view, 1> kTorchNormNames = {"batch_norm2d"};

Bytes norm_output(const BatchNormShape& shape) { return element_size(shape.dtype) * elements_of(shape); }

Operator read_norm(const ShapeWords& words) {
  using enum ShapeKey;
  need(words, words[op], {dtype, channels, height});
  const BatchNormShape shape{.batch = extent_or(words, b, 1),
                             .channels = extent(words, channels),
                             .image = sides_of(words, height, width),
                             .dtype = chosen<DType>(words, dtype),
                             .pass = chosen_or(words, pass, Pass::forward),
                             .layout = chosen_or(words, layout, ImageLayout::nchw)};
  if (shape.dtype == DType::fp8 || shape.dtype == DType::fp4)
    refuse(dtype, "must be bf16, fp16 or fp32 of a batch norm");
  refuse_absurd(b, 5.0 * norm_output(shape).value, elements_of(shape));
  return shape;
}

std::vector<ShapeField> norm_fields(const BatchNormShape& shape) {
  using enum ShapeKey;
  return {{dtype, name_of(shape.dtype)},  {b, shape.batch},       {channels, shape.channels},
          {height, shape.image.h},        {width, shape.image.w}, {pass, name_of(shape.pass)},
          {layout, name_of(shape.layout)}};
}

/// "32 of 64 x 112 x 112 fp16 nhwc backward"
std::string norm_text(const BatchNormShape& shape) {
  std::string text =
      fmt::format("{} of {} x {} {}", shape.batch, shape.channels, by(shape.image), name_of(shape.dtype));
  if (shape.layout != ImageLayout::nchw) text += fmt::format(" {}", name_of(shape.layout));
  if (shape.pass == Pass::backward) text += " backward";
  return text;
}

std::string_view norm_coefficients(const BatchNormShape&) { return "vector"; }

GpuUse norm_uses(const BatchNormShape&, const GpuSpec&) { return use_of_vector_units("vector"); }

/// Batches of one layer are alike.
std::vector<std::int64_t> norm_numbers(const BatchNormShape& shape) {
  return {shape.channels,
          shape.image.h,
          shape.image.w,
          static_cast<std::int64_t>(shape.dtype),
          static_cast<std::int64_t>(shape.pass),
          static_cast<std::int64_t>(shape.layout)};
}

std::string_view norm_group(const BatchNormShape&) { return "norm"; }

}  // namespace

extern constexpr OperatorClass kBatchNormClass = {.name = "batch_norm",
                                                  .operators = kNormNames,
                                                  .aliases = kTorchNormNames,
                                                  .read = read_norm,
                                                  .fields = on_shape<&norm_fields>,
                                                  .shape_text = on_shape<&norm_text>,
                                                  .describe = on_shape<&describe_batch_norm>,
                                                  .output = on_shape<&norm_output>,
                                                  .coefficients = on_shape<&norm_coefficients>,
                                                  .uses = on_shape<&norm_uses>,
                                                  .shape_numbers = on_shape<&norm_numbers>,
                                                  .group = on_shape<&norm_group>};

const OperatorClass& operator_class(const BatchNormShape&) { return kBatchNormClass; }

}}  // namespace c3::gpu
