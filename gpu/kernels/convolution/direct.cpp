#include <algorithm>
#include <bit>

#include "gpu/kernels/convolution/plan_parts.hpp"
#include "gpu/kernels/tiling.hpp"

namespace c3 { inline namespace gpu {
namespace {

// A work group keeps this many results in registers: 512 threads with 8 accumulators each.
constexpr std::int64_t kResults = 4096;
constexpr std::int64_t kMostFilters = 16;    // of a work group, so that pixels loaded once serve them all
constexpr std::int64_t kSideOfWeights = 64;  // filters and taps of a work group of the weight pass

double product(auto... extents) { return (... * static_cast<double>(extents)); }

std::int64_t power_of_two_from(std::int64_t value) {
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(value)));
}

/// Forward and data: blocks of results, filters x pixels.
VectorWork work_of_images(const ConvolutionShape& shape) {
  const ConvolutionProduct product_here = product_of(shape);
  const std::int64_t filters = std::min(kMostFilters, power_of_two_from(product_here.m));
  const std::int64_t pixels = kResults / filters;
  const std::int64_t blocks = ceil_div(product_here.m, filters) * ceil_div(product_here.n, pixels);
  const ConvolutionTensors tensors = tensors_of(shape);
  const bool forward = shape.pass == ConvolutionPass::forward;
  const double image = forward ? tensors.input : tensors.output;
  const auto count = static_cast<double>(product_here.count * blocks);
  // Each block of filters goes through the image once, each block of pixels through its filters.
  const double passes = static_cast<double>(ceil_div(product_here.m, filters));
  const double requested = image * passes / count + product(filters, product_here.k);
  return {.work_groups = count,
          .multiplications_each = product(kResults, product_here.k),
          .rate = 0,
          .requested_each = element_size(shape.dtype) * requested};
}

/// Blocks of filters x taps; images are dealt to as many work groups as fill the target's CUs twice, which add
/// up.
VectorWork work_of_weights(const ConvolutionShape& shape, const PlanTarget& target) {
  const ConvolutionProduct product_here = product_of(shape);
  const std::int64_t blocks =
      product_here.count * ceil_div(product_here.m, kSideOfWeights) * ceil_div(product_here.n, kSideOfWeights);
  const std::int64_t wanted = ceil_div(std::int64_t{2} * target.cus(), blocks);
  const std::int64_t parts = std::min(shape.batch, wanted);
  const double k = static_cast<double>(product_here.k) / static_cast<double>(parts);
  const double taps = product(shape.filter.h, shape.filter.w);
  return {.work_groups = static_cast<double>(blocks * parts),
          .multiplications_each = product(kSideOfWeights, kSideOfWeights) * k,
          .rate = 0,
          .requested_each =
              element_size(shape.dtype) * (k * static_cast<double>(kSideOfWeights) * (1.0 + 1.0 / taps))};
}

ConvolutionPlan plan_direct(const ConvolutionShape& shape, const PlanTarget& target) {
  const GpuSpec& gpu = target.gpu;
  VectorWork work =
      shape.pass == ConvolutionPass::weight ? work_of_weights(shape, target) : work_of_images(shape);
  // Sums are fp32, one to a lane, whatever the operands.
  work.rate = vector_multiplications(shape, gpu, /*packed=*/false) * gpu.kernels.convolution.direct_share;
  ConvolutionPlan plan;
  plan.kernel = vector_kernel(shape, work, gpu);
  plan.kernel.touches = touched_by(shape, {.channels = 1, .pixels = shape.image.h * shape.image.w});
  add_kernels(plan, 0, {}, gpu);
  return plan;
}

bool can_run(const ConvolutionShape& shape) { return shape.layout == ImageLayout::nchw; }

}  // namespace

extern constexpr SolverEntry kDirect = {
    .solver = ConvolutionSolver::direct, .requires_ = "layout nchw", .can_run = can_run, .plan = plan_direct};

}}  // namespace c3::gpu
