#include <algorithm>
#include <string>
#include <utility>

#include "gpu/kernels/convolution/plan_parts.hpp"
#include "gpu/kernels/tiling.hpp"

namespace c3 { inline namespace gpu {
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

ConvolutionPlan plan_fft(const ConvolutionShape& shape, const PlanTarget& target) {
  const GpuSpec& gpu = target.gpu;
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
  // A transform reads real numbers, padded to its side, and writes half as many complex ones, as many bytes;
  // its transpose, by which all of a point lie together, reads and writes these.
  const Bytes point{kComplex};
  const bool is_data = shape.pass == ConvolutionPass::data;
  const std::string images_name = is_data ? result_name(shape.pass) : image_name(shape.pass);
  const std::string results_name = is_data ? image_name(shape.pass) : result_name(shape.pass);
  const double taken = is_data ? results : images, made = is_data ? images : results;
  const auto by_image = [&](std::string name, double count, bool is_written) {
    return across(std::move(name), count, product(points), point, is_written);
  };
  const auto by_point = [&](std::string name, double count, bool is_written) {
    return across(std::move(name), product(points), count, point, is_written);
  };
  const auto padded = [&](std::string name, double count, bool is_written) {
    return streamed(std::move(name), point * (count * product(points)), is_written);
  };
  plan.kernel.before = rearranging(
      {phase_of("transform of images",
                {padded(images_name, taken, false), padded("spectra of images", taken, true)}),
       phase_of("transform of filters",
                {padded("filters", filters, false), padded("spectra of filters", filters, true)}),
       phase_of("transpose of images",
                {by_image("spectra of images", taken, false), by_point("images by point", taken, true)}),
       phase_of("transpose of filters",
                {by_image("spectra of filters", filters, false), by_point("filters by point", filters, true)})},
      gpu);
  plan.kernel.after = rearranging(
      {phase_of("transpose of results",
                {by_point("results by point", made, false), by_image("spectra of results", made, true)}),
       phase_of("inverse transform",
                {padded("spectra of results", made, false), padded(results_name, made, true)})},
      gpu);
  plan.kernel.after.front().time = plan.kernel.after.front().time - gpu.hbm.latency;  // one wait for all six
  plan.kernel.touches = {by_point("images by point", taken, false),
                         by_point("filters by point", filters, false),
                         by_point("results by point", made, true)};
  plan.workspace = Bytes{2.0 * kComplex * product(points) * std::max(images + filters, results)};
  add_kernels(plan, kTransforms, {}, gpu);
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

}}  // namespace c3::gpu
