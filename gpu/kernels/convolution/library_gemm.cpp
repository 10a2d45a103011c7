#include <array>
#include <string>
#include <utility>

#include "gpu/kernels/convolution/plan_parts.hpp"
#include "gpu/kernels/gemm/gemm_footprints.hpp"

namespace c3 { inline namespace gpu {
namespace {

bool is_pointwise(const ConvolutionShape& shape) {
  return shape.filter == Extent2{1, 1} && shape.pad == Extent2{0, 0};
}
bool has_stride(const ConvolutionShape& shape) { return shape.stride != Extent2{1, 1}; }

double product_of_extents(auto... extents) { return (... * static_cast<double>(extents)); }

/// One image's matrix of patches, all groups: a column for each output pixel, a row for each tap.
double patch_elements(const ConvolutionShape& shape) {
  const Extent2 out = output_extent(shape);
  return product_of_extents(shape.channels, shape.filter.h, shape.filter.w, out.h, out.w);
}

/// What the library multiplies for one image, or for all of them (`images`).
GemmShape product_for(const ConvolutionShape& shape, std::int64_t images) {
  const Extent2 out = output_extent(shape);
  const std::int64_t pixels = out.h * out.w * images;
  const std::int64_t taps = channels_of_group(shape) * shape.filter.h * shape.filter.w;
  GemmShape gemm{
      .m = filters_of_group(shape), .n = pixels, .k = taps, .dtype = shape.dtype, .batch = shape.groups};
  gemm.layout = GemmLayout::nn;
  if (shape.pass == ConvolutionPass::data) {
    gemm.m = taps;
    gemm.k = filters_of_group(shape);
    gemm.layout = GemmLayout::nt;  // filters lie across k
  }
  if (shape.pass == ConvolutionPass::weight) {
    gemm.n = taps;
    gemm.k = pixels;
    gemm.layout = GemmLayout::tn;
  }
  return gemm;
}

/// The operands of \p gemm, in the plan's names for A, B and C. A call for each of several images: the bytes
/// are those of all.
std::vector<TouchedTensor> operands(const GemmShape& gemm, std::int64_t calls,
                                    const std::array<std::string, 3>& names) {
  std::array<TouchedTensor, 3> touched = touched_by(gemm);
  std::vector<TouchedTensor> named;
  for (std::size_t i = 0; i < touched.size(); ++i) {
    touched[i].name = names[i];
    if (names[i] != "filters" && names[i] != "filter gradient")
      touched[i].bytes = static_cast<double>(calls) * touched[i].bytes;
    named.push_back(std::move(touched[i]));
  }
  return named;
}

/// Of the pass's product, A, B and C: the matrices of the images and of the results that it reads or writes.
std::array<std::string, 3> names_of(const ConvolutionShape& shape, const std::string& images,
                                    const std::string& results) {
  switch (shape.pass) {
    case ConvolutionPass::forward:
      return {"filters", images, results};
    case ConvolutionPass::data:
      return {"filters", results, images};
    case ConvolutionPass::weight:
      break;
  }
  return {results, images, "filter gradient"};
}

/// 1 x 1 with stride 1: images as they lie are the matrices. Forward and data they are a batch of one call;
/// products of the weight pass add up, one call an image.
ConvolutionPlan plan_pointwise(const ConvolutionShape& shape, const PlanTarget& target) {
  const GpuSpec& gpu = target.gpu;
  GemmShape gemm = product_for(shape, 1);
  const bool one_call = shape.pass != ConvolutionPass::weight && shape.groups == 1;
  const std::int64_t calls = one_call ? 1 : shape.batch;
  if (one_call) gemm.batch = shape.batch;
  ConvolutionPlan plan;
  plan.kernel = repeated(library_product(gemm, target), calls, gpu);
  plan.kernel.touches = operands(gemm, calls, names_of(shape, image_name(shape.pass), result_name(shape.pass)));
  add_kernels(plan, static_cast<int>(calls) - 1, {}, gpu);
  return plan;
}

/// 1 x 1 with a stride: the pixels that are used are gathered from all images, channels first, for one call.
ConvolutionPlan plan_strided(const ConvolutionShape& shape, const PlanTarget& target) {
  const GpuSpec& gpu = target.gpu;
  const ConvolutionTensors tensors = tensors_of(shape);
  const Extent2 out = output_extent(shape);
  const double used = product_of_extents(shape.batch, shape.channels, out.h, out.w);
  const bool spreads = shape.pass == ConvolutionPass::data;  // zeros between
  const Bytes element = element_size(shape.dtype);
  ConvolutionPlan plan;
  const GemmShape gemm = product_for(shape, shape.batch);
  plan.kernel = library_product(gemm, target);
  plan.kernel.touches = operands(gemm, 1, names_of(shape, "used pixels", "result, channels first"));
  plan.workspace = element * (used + tensors.output);
  const auto pixels = [&](bool is_written) { return streamed("used pixels", element * used, is_written); };
  const auto first = [&](bool is_written) {
    return across("result, channels first", static_cast<double>(shape.filters),
                  tensors.output / static_cast<double>(shape.filters), element, is_written);
  };
  const auto result = [&](bool is_written) {
    return streamed(result_name(shape.pass), element * tensors.output, is_written);
  };
  if (spreads) {
    plan.kernel.before = rearranging({phase_of("transpose of gradients", {result(false), first(true)})}, gpu);
    plan.kernel.after = rearranging(
        {phase_of("spread of pixels",
                  {pixels(false), streamed(image_name(shape.pass), element * tensors.input, true)})},
        gpu);
  } else {
    plan.kernel.before = rearranging(
        {phase_of("gather of pixels", {streamed(image_name(shape.pass), element * used, false), pixels(true)})},
        gpu);
    plan.kernel.after = rearranging({phase_of("transpose of results", {first(false), result(true)})}, gpu);
  }
  add_kernels(plan, 2, {}, gpu);
  return plan;
}

/// Image by image: its patches, and one call for its product (in the data pass the other way round).
ConvolutionPlan plan_patches(const ConvolutionShape& shape, const PlanTarget& target) {
  const GpuSpec& gpu = target.gpu;
  const Bytes element = element_size(shape.dtype);
  const double patches = patch_elements(shape);
  const double image = product_of_extents(shape.channels, shape.image.h, shape.image.w);
  ConvolutionPlan plan;
  const GemmShape gemm = product_for(shape, 1);
  plan.kernel = repeated(library_product(gemm, target), shape.batch, gpu);
  plan.kernel.touches = operands(gemm, shape.batch, names_of(shape, "patches", result_name(shape.pass)));
  plan.workspace = element * patches;
  // All images' patches as one phase: a row of an image's for each tap, of which a channel's are written
  // together.
  const auto images = static_cast<double>(shape.batch);
  const bool is_data = shape.pass == ConvolutionPass::data;
  TouchedTensor matrix =
      across("patches", product_of_extents(shape.channels, shape.filter.h, shape.filter.w),
             product_of_extents(output_extent(shape).h, output_extent(shape).w), element, !is_data);
  matrix.bytes = images * matrix.bytes;
  std::vector<KernelPhase> phases = rearranging(
      {phase_of(is_data ? "images of patches" : "patches of images",
                {std::move(matrix), streamed(image_name(shape.pass), element * (images * image), is_data)})},
      gpu);
  phases.front().time += gpu.hbm.latency * (images - 1.0);
  (is_data ? plan.kernel.after : plan.kernel.before) = std::move(phases);
  add_kernels(plan, static_cast<int>(2 * shape.batch) - 1, {}, gpu);
  return plan;
}

ConvolutionPlan plan_library_gemm(const ConvolutionShape& shape, const PlanTarget& target) {
  const bool strided = has_stride(shape) && shape.groups == 1 && shape.pass != ConvolutionPass::weight;
  ConvolutionPlan plan = !is_pointwise(shape) ? plan_patches(shape, target)
                         : !has_stride(shape) ? plan_pointwise(shape, target)
                         : strided            ? plan_strided(shape, target)
                                              : plan_patches(shape, target);
  plan.kernel.useful_flops = Flops{2.0 * direct_multiplications(shape)};
  set_totals(plan.kernel, shape);
  return plan;
}

// Calls one by one are no plan for a large batch of images, but nothing forbids them.
bool can_run(const ConvolutionShape& shape) { return shape.layout == ImageLayout::nchw; }

}  // namespace

extern constexpr SolverEntry kLibraryGemm = {.solver = ConvolutionSolver::gemm,
                                             .requires_ = "layout nchw",
                                             .can_run = can_run,
                                             .plan = plan_library_gemm};

}}  // namespace c3::gpu
