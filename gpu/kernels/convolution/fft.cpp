#include <algorithm>
#include <cmath>

#include "gpu/kernels/convolution/plan_parts.hpp"
#include "gpu/kernels/tiling.hpp"

namespace c3::inline gpu {
namespace {

constexpr Extent2 kFilter = {5, 5};
constexpr std::int64_t kResults = 4096;            // of a work group: a tile of 64 x 64
constexpr double kMultiplicationsOfComplex = 4.0;  // of two complex numbers
constexpr double kComplex = 8.0;                   // bytes, fp32
constexpr int kTransforms = 6;  // of images and filters, their transposes, the results' and back

double product(auto... extents) { return (... * static_cast<double>(extents)); }

/// The side of the transform: the image and what the filter reaches beyond it, up to a size whose factors are
/// 2, 3 and 5.
std::int64_t side_of(const ConvolutionShape& shape) {
  std::int64_t side = std::max(shape.image.h, shape.image.w) + kFilter.h - 1;
  const auto is_smooth = [](std::int64_t value) {
    for (const std::int64_t factor : {2, 3, 5})
      while (value % factor == 0)
        value /= factor;
    return value == 1;
  };
  while (!is_smooth(side))
    ++side;
  return side;
}

ConvolutionPlan plan_fft(const ConvolutionShape& shape, const GpuSpec& gpu) {
  const std::int64_t side = side_of(shape);
  const std::int64_t points = side * (side / 2 + 1);  // the other half is its conjugate
  const double images = product(shape.batch, shape.channels);
  const double filters = product(shape.filters, shape.channels);
  const double results = product(shape.batch, shape.filters);
  const ConvolutionProduct of_point = {
      .m = shape.pass == ConvolutionPass::data ? shape.channels : shape.filters,
      .n = shape.batch,
      .k = shape.pass == ConvolutionPass::data ? shape.filters : shape.channels,
      .count = points};
  constexpr std::int64_t kSide = 64;
  const double blocks = product(of_point.count, ceil_div(of_point.m, kSide), ceil_div(of_point.n, kSide));
  const VectorWork work = {
      .work_groups = blocks,
      .multiplications_each = kMultiplicationsOfComplex * product(kResults, of_point.k),
      .rate = vector_multiplications(shape, gpu, /*packed=*/false) * gpu.kernels.convolution.direct_share,
      .requested_each = Bytes{kComplex * product(2 * kSide, of_point.k)}};
  ConvolutionPlan plan;
  plan.kernel = vector_kernel(shape, work, gpu);
  const double transformed = product(points) * (images + filters + results);
  // Each transform is written, read and written again by its transpose, and read once more.
  const Bytes moved{4.0 * kComplex * transformed};
  plan.workspace = Bytes{2.0 * kComplex * product(points) * std::max(images + filters, results)};
  add_kernels(plan, kTransforms, rearranging(moved, gpu), gpu);
  return plan;
}

bool can_run(const ConvolutionShape& shape) {
  constexpr std::int64_t kLargestImage = 28;
  return shape.dtype == DType::fp32 && shape.pass != ConvolutionPass::weight && shape.groups == 1 &&
         shape.layout == ImageLayout::nchw && shape.filter == kFilter && shape.pad == Extent2{2, 2} &&
         shape.stride == Extent2{1, 1} && shape.dilation == Extent2{1, 1} &&
         std::max(shape.image.h, shape.image.w) <= kLargestImage;
}

}  // namespace

// What ROCm/MIOpen's FFT takes (fft.cpp), which has kernels for images of 7, 14, 27 and 28 pixels.
extern constexpr SolverEntry kFft = {
    .solver = ConvolutionSolver::fft,
    .requires_ =
        "fp32, layout nchw, one group, filters of 5 x 5 with pad 2, stride 1 and no dilation, images of at "
        "most 28 x 28, and no weight pass",
    .can_run = can_run,
    .plan = plan_fft};

}  // namespace c3::gpu
