#include <fmt/format.h>

#include <utility>

#include "gpu/kernels/checks.hpp"
#include "gpu/kernels/convolution/solver.hpp"
#include "gpu/kernels/gemm/gemm_kernel.hpp"
#include "gpu/kernels/image_words.hpp"
#include "gpu/kernels/operator_class.hpp"

namespace c3 { inline namespace gpu {
namespace {

constexpr std::array<std::string_view, 1> kOperators = {"convolution"};
constexpr std::array<std::string_view, 1> kAliases = {"conv2d"};

using enum ShapeKey;

void check(const ConvolutionShape& shape) {
  if (shape.dtype == DType::fp8 || shape.dtype == DType::fp4)
    refuse(dtype, "must be bf16, fp16 or fp32 of a convolution");
  if (shape.channels % shape.groups != 0 || shape.filters % shape.groups != 0)
    refuse(groups, fmt::format("must divide channels and filters, {} and {}", shape.channels, shape.filters));
  const Extent2 out = output_extent(shape);
  if (out.h < 1) refuse(filter_h, "the filter is higher than the padded input");
  if (out.w < 1) refuse(filter_w, "the filter is wider than the padded input");
}

Operator read(const ShapeWords& words) {
  need(words, "convolution", {dtype, channels, filters, height, filter_h});
  const ConvolutionShape shape{.batch = extent_or(words, b, 1),
                               .channels = extent(words, channels),
                               .filters = extent(words, filters),
                               .groups = extent_or(words, groups, 1),
                               .image = sides_of(words, height, width),
                               .filter = sides_of(words, filter_h, filter_w),
                               .pad = pads_of(words, pad_h, pad_w),
                               .stride = sides_of(words, stride_h, stride_w),
                               .dilation = sides_of(words, dilation_h, dilation_w),
                               .dtype = chosen<DType>(words, dtype),
                               .pass = chosen_or(words, pass, ConvolutionPass::forward),
                               .layout = chosen_or(words, layout, ImageLayout::nchw),
                               .solver = chosen_or(words, solver, ConvolutionSolver::fastest)};
  check(shape);
  const Bytes tensors = element_size(shape.dtype) * tensors_of(shape).all();
  refuse_absurd(b, tensors.value, 2.0 * direct_multiplications(shape));
  return shape;
}

std::vector<ShapeField> fields(const ConvolutionShape& shape) {
  return {{dtype, name_of(shape.dtype)},
          {b, shape.batch},
          {channels, shape.channels},
          {filters, shape.filters},
          {height, shape.image.h},
          {width, shape.image.w},
          {filter_h, shape.filter.h},
          {filter_w, shape.filter.w},
          {pad_h, shape.pad.h},
          {pad_w, shape.pad.w},
          {stride_h, shape.stride.h},
          {stride_w, shape.stride.w},
          {dilation_h, shape.dilation.h},
          {dilation_w, shape.dilation.w},
          {groups, shape.groups},
          {pass, name_of(shape.pass)},
          {layout, name_of(shape.layout)},
          {solver, name_of(shape.solver)}};
}

/// "32 of 64 x 56 x 56, 64 of 3 x 3 fp16 stride 2 x 2 weight"
std::string shape_text(const ConvolutionShape& shape) {
  std::string text = fmt::format("{} of {} x {}, {} of {} {}", shape.batch, shape.channels, by(shape.image),
                                 shape.filters, by(shape.filter), name_of(shape.dtype));
  if (shape.stride != Extent2{}) text += fmt::format(" stride {}", by(shape.stride));
  if (shape.dilation != Extent2{}) text += fmt::format(" dilation {}", by(shape.dilation));
  if (shape.groups != 1) text += fmt::format(" groups {}", shape.groups);
  if (shape.pass != ConvolutionPass::forward) text += fmt::format(" {}", name_of(shape.pass));
  if (shape.layout != ImageLayout::nchw) text += fmt::format(" {}", name_of(shape.layout));
  if (shape.solver != ConvolutionSolver::fastest) text += fmt::format(" {}", name_of(shape.solver));
  return text;
}

KernelDescription planned_for(std::string name, const ConvolutionShape& shape, const PlanTarget& target) {
  KernelDescription kernel = plan_convolution(shape, target).kernel;
  kernel.name = std::move(name);
  check_fits(kernel, target.gpu);
  return kernel;
}

KernelDescription describe_convolution(std::string name, const ConvolutionShape& shape, const GpuSpec& gpu) {
  return planned_for(std::move(name), shape, gpu);
}

KernelDescription describe_tuned_convolution(std::string name, const ConvolutionShape& shape,
                                             const GpuSpec& gpu, const KernelSlice& slice) {
  return planned_for(std::move(name), shape, {gpu, slice});
}

Bytes output(const ConvolutionShape& shape) { return element_size(shape.dtype) * written_elements(shape); }

Flops matrix_flops(const ConvolutionShape& shape) { return Flops{2.0 * direct_multiplications(shape)}; }

std::string_view coefficients(const ConvolutionShape&) { return "convolution"; }

DType multiplies(const ConvolutionShape& shape) { return shape.dtype; }

/// The fastest solver is taken, so that all that any of them depends on can change the time: products of a
/// library's tiles, and multiply-adds of vector units.
GpuUse uses(const ConvolutionShape& shape, const GpuSpec& gpu) {
  GpuUse use = use_of_product({.dtype = shape.dtype}, gpu);
  use.add(use_of_vector_units("convolution"));
  return use;
}

/// Passes, types and batches of one layer are alike.
std::vector<std::int64_t> shape_numbers(const ConvolutionShape& shape) {
  return {shape.channels, shape.filters,    shape.groups,    shape.image.h, shape.image.w,
          shape.filter.h, shape.filter.w,   shape.pad.h,     shape.pad.w,   shape.stride.h,
          shape.stride.w, shape.dilation.h, shape.dilation.w};
}

/// What the tensors of its solver's kernels touch, in each phase of the call.
std::vector<TouchedPhase> touches(const ConvolutionShape& shape, const GpuSpec& gpu) {
  KernelDescription kernel = plan_convolution(shape, gpu).kernel;
  std::vector<TouchedPhase> phases;
  const auto add = [&](std::vector<KernelPhase>& of) {
    for (KernelPhase& phase : of)
      phases.push_back({std::move(phase.name), std::move(phase.touches)});
  };
  add(kernel.before);
  phases.push_back({{}, std::move(kernel.touches)});
  add(kernel.after);
  return phases;
}

/// Images are cut, never an image.
Operator part(const ConvolutionShape& shape, std::int64_t parts) {
  ConvolutionShape cut = shape;
  cut.batch = (shape.batch + parts - 1) / parts;
  return cut;
}

}  // namespace

extern constexpr OperatorClass kConvolutionClass = {.name = "convolution",
                                                    .operators = kOperators,
                                                    .aliases = kAliases,
                                                    .read = read,
                                                    .fields = on_shape<&fields>,
                                                    .shape_text = on_shape<&shape_text>,
                                                    .describe = on_shape<&describe_convolution>,
                                                    .describe_tuned = on_shape<&describe_tuned_convolution>,
                                                    .output = on_shape<&output>,
                                                    .multiplies = on_shape<&multiplies>,
                                                    .matrix_flops = on_shape<&matrix_flops>,
                                                    .coefficients = on_shape<&coefficients>,
                                                    .uses = on_shape<&uses>,
                                                    .shape_numbers = on_shape<&shape_numbers>,
                                                    .touches = on_shape<&touches>,
                                                    .part = on_shape<&part>};

const OperatorClass& operator_class(const ConvolutionShape&) { return kConvolutionClass; }

}}  // namespace c3::gpu
