#include <algorithm>
#include <array>
#include <utility>

#include "gpu/kernels/convolution/plan_parts.hpp"
#include "gpu/kernels/tiling.hpp"

namespace c3 { inline namespace gpu {
namespace {

/// F(outputs, taps): outputs + taps - 1 multiplications for so many outputs of so many taps, along one axis.
/// Source: Lavin and Gray, "Fast algorithms for convolutional neural networks", CVPR 2016.
struct WinogradTile {
  std::int64_t outputs;
  std::int64_t taps;

  std::int64_t multiplications() const { return outputs + taps - 1; }
};
// The kernels of ROCm/MIOpen (conv_winoRxS.cpp): both cut filters of any size into parts of `taps`.
constexpr std::array kTiles = {WinogradTile{2, 3}, WinogradTile{3, 2}};

// What one work group of those kernels has at a time; channels go two at a time.
constexpr std::int64_t kFiltersOfBlock = 32;
constexpr std::int64_t kTilesOfBlock = 32;
constexpr std::int64_t kChannelsTogether = 2;

double product(auto... extents) { return (... * static_cast<double>(extents)); }

/// One axis: outputs of each phase, taps that they see, and how many phases take part.
struct Axis {
  std::int64_t outputs, taps, output_phases, input_phases;

  std::int64_t tiles(const WinogradTile& tile) const { return ceil_div(outputs, tile.outputs); }
  std::int64_t parts(const WinogradTile& tile) const { return input_phases * ceil_div(taps, tile.taps); }
};

/// With a stride, forward outputs see each phase of the image with its own taps; in the data pass each phase of
/// the pixels sees its own taps. The weight pass is the convolution of images with the outputs' gradient.
Axis axis_of(ConvolutionPass pass, std::int64_t image, std::int64_t filter, std::int64_t out,
             std::int64_t stride) {
  const std::int64_t phases = std::min(stride, filter);
  if (pass == ConvolutionPass::forward) return {out, ceil_div(filter, stride), 1, phases};
  if (pass == ConvolutionPass::data) return {ceil_div(image, stride), ceil_div(filter, stride), phases, 1};
  return {filter, out, 1, 1};
}

/// The convolution as its kernels see it: in the weight pass images are channels and channels images.
struct Seen {
  std::int64_t images, channels, filters;
  Axis h, w;
};

Seen seen_by_kernel(const ConvolutionShape& shape) {
  const Extent2 out = output_extent(shape);
  const Axis h = axis_of(shape.pass, shape.image.h, shape.filter.h, out.h, shape.stride.h);
  const Axis w = axis_of(shape.pass, shape.image.w, shape.filter.w, out.w, shape.stride.w);
  const std::int64_t channels = channels_of_group(shape);
  const std::int64_t filters = filters_of_group(shape);
  switch (shape.pass) {
    case ConvolutionPass::data:
      return {shape.batch, filters, channels, h, w};
    case ConvolutionPass::weight:
      return {channels, shape.batch, filters, h, w};
    default:
      return {shape.batch, channels, filters, h, w};
  }
}

/// One kernel that transforms, multiplies and transforms back.
ConvolutionPlan plan_fused(const ConvolutionShape& shape, const WinogradTile& tile, const GpuSpec& gpu) {
  const Seen seen = seen_by_kernel(shape);
  const std::int64_t tiles =
      seen.images * seen.h.tiles(tile) * seen.w.tiles(tile) * seen.h.output_phases * seen.w.output_phases;
  const std::int64_t blocks =
      shape.groups * ceil_div(seen.filters, kFiltersOfBlock) * ceil_div(tiles, kTilesOfBlock);
  const std::int64_t channels = ceil_div(seen.channels, kChannelsTogether) * kChannelsTogether;
  const double parts = product(seen.h.parts(tile), seen.w.parts(tile));
  const double points = product(tile.multiplications(), tile.multiplications());
  const double inputs = product(kTilesOfBlock) * points * parts;
  const double taps =
      product(kFiltersOfBlock, seen.h.taps, seen.w.taps, seen.h.input_phases, seen.w.input_phases);
  const VectorWork work = {
      .work_groups = static_cast<double>(blocks),
      .multiplications_each = product(kFiltersOfBlock, kTilesOfBlock, channels) * points * parts,
      .rate = vector_multiplications(shape, gpu, /*packed=*/true) * gpu.kernels.convolution.winograd_share,
      .requested_each = element_size(shape.dtype) * (static_cast<double>(seen.channels) * (inputs + taps))};
  ConvolutionPlan plan;
  plan.kernel = vector_kernel(shape, work, gpu);
  plan.kernel.touches =
      touched_by(shape, {.channels = kChannelsTogether, .pixels = shape.image.h * shape.image.w});
  add_kernels(plan, 0, {}, gpu);
  return plan;
}

/// Weights in passes: both tensors are transformed, each of the points is a product of a library, and the sums
/// are transformed back. F(filter, taps) with the outputs' gradient cut into tiles of `taps`.
ConvolutionPlan plan_passes(const ConvolutionShape& shape, std::int64_t taps, const PlanTarget& target) {
  const GpuSpec& gpu = target.gpu;
  const Extent2 out = output_extent(shape);
  const double tiles = product(shape.batch, ceil_div(out.h, taps), ceil_div(out.w, taps));
  const std::int64_t points = (shape.filter.h + taps - 1) * (shape.filter.w + taps - 1);
  const GemmShape gemm{.m = shape.filters,
                       .n = shape.channels,
                       .k = static_cast<std::int64_t>(tiles),
                       .dtype = shape.dtype,
                       .batch = points};
  const Bytes element = element_size(shape.dtype);
  const ConvolutionTensors tensors = tensors_of(shape);
  const double transformed_inputs = tiles * product(points, shape.channels);
  const double transformed_gradients = tiles * product(points, shape.filters);
  const double sums = product(points, shape.filters, shape.channels);
  ConvolutionPlan plan;
  plan.kernel = library_product(gemm, target);
  plan.workspace = element * (transformed_inputs + transformed_gradients + sums);
  // Each point has a matrix of its own, of all tiles: a transform writes across them.
  const auto transformed = [&](std::string name, double elements, bool is_written) {
    return across(std::move(name), product(points), elements / product(points), element, is_written);
  };
  plan.kernel.before = rearranging(
      {phase_of("transform of images", {streamed("input", element * tensors.input, false),
                                        transformed("tiles of input", transformed_inputs, true)}),
       phase_of("transform of gradients", {streamed("output gradient", element * tensors.output, false),
                                           transformed("tiles of gradient", transformed_gradients, true)})},
      gpu);
  plan.kernel.after = rearranging(
      {phase_of("inverse transform", {transformed("sums", sums, false),
                                      streamed("filter gradient", element * tensors.filters, true)})},
      gpu);
  plan.kernel.touches = {transformed("tiles of input", transformed_inputs, false),
                         transformed("tiles of gradient", transformed_gradients, false),
                         streamed("sums", element * sums, true)};
  set_totals(plan.kernel, shape);
  add_kernels(plan, 3, {}, gpu);
  return plan;
}

ConvolutionPlan plan_winograd(const ConvolutionShape& shape, const PlanTarget& target) {
  constexpr std::array<std::int64_t, 5> kTapsOfPasses = {2, 3, 4, 5, 6};
  FastestPlan fastest(target);
  for (const WinogradTile& tile : kTiles)
    fastest.take(plan_fused(shape, tile, target.gpu));
  if (shape.pass == ConvolutionPass::weight && shape.groups == 1 && shape.filter == Extent2{3, 3})
    for (const std::int64_t taps : kTapsOfPasses)
      fastest.take(plan_passes(shape, taps, target));
  return std::move(fastest).best();
}

bool can_run(const ConvolutionShape& shape) {
  const bool has_taps = shape.filter.h * shape.filter.w > 1;
  const bool near = shape.dilation == Extent2{1, 1} && shape.stride.h <= 2 && shape.stride.h == shape.stride.w;
  const bool whole = shape.pass != ConvolutionPass::weight || shape.stride.h == 1;
  return shape.layout == ImageLayout::nchw && has_taps && near && whole;
}

}  // namespace

extern constexpr SolverEntry kWinograd = {
    .solver = ConvolutionSolver::winograd,
    .requires_ =
        "layout nchw, a filter of more than one tap, no dilation, equal strides of 1 or 2 (1 in the weight "
        "pass)",
    .can_run = can_run,
    .plan = plan_winograd};

}}  // namespace c3::gpu
