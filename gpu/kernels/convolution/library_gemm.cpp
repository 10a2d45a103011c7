#include <algorithm>

#include "gpu/kernels/convolution/plan_parts.hpp"
#include "gpu/kernels/gemm/gemm_kernel.hpp"

namespace c3::inline gpu {
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

/// 1 x 1 with stride 1: images as they lie are the matrices. Forward and data they are a batch of one call;
/// products of the weight pass add up, one call an image.
ConvolutionPlan plan_pointwise(const ConvolutionShape& shape, const GpuSpec& gpu) {
  GemmShape gemm = product_for(shape, 1);
  const bool one_call = shape.pass != ConvolutionPass::weight && shape.groups == 1;
  const std::int64_t calls = one_call ? 1 : shape.batch;
  if (one_call) gemm.batch = shape.batch;
  ConvolutionPlan plan;
  plan.kernel = repeated(describe_product("convolution", gemm, gpu), calls, gpu);
  add_kernels(plan, static_cast<int>(calls) - 1, {}, gpu);
  return plan;
}

/// 1 x 1 with a stride: the pixels that are used are gathered from all images, channels first, for one call.
ConvolutionPlan plan_strided(const ConvolutionShape& shape, const GpuSpec& gpu) {
  const ConvolutionTensors tensors = tensors_of(shape);
  const Extent2 out = output_extent(shape);
  const double used = product_of_extents(shape.batch, shape.channels, out.h, out.w);
  const bool spreads = shape.pass == ConvolutionPass::data;  // zeros between
  const double image_side = spreads ? used + tensors.input : 2.0 * used;
  const Bytes element = element_size(shape.dtype);
  ConvolutionPlan plan;
  plan.kernel = describe_product("convolution", product_for(shape, shape.batch), gpu);
  plan.workspace = element * (used + tensors.output);
  const Seconds copies =
      rearranging(element * image_side, gpu) + rearranging(element * (2.0 * tensors.output), gpu);
  add_kernels(plan, 2, copies, gpu);
  return plan;
}

/// Image by image: its patches, and one call for its product (in the data pass the other way round).
ConvolutionPlan plan_patches(const ConvolutionShape& shape, const GpuSpec& gpu) {
  const Bytes element = element_size(shape.dtype);
  const double patches = patch_elements(shape);
  const double image = product_of_extents(shape.channels, shape.image.h, shape.image.w);
  ConvolutionPlan plan;
  plan.kernel = repeated(describe_product("convolution", product_for(shape, 1), gpu), shape.batch, gpu);
  plan.workspace = element * patches;
  const Seconds each = rearranging(element * (patches + image), gpu);
  add_kernels(plan, static_cast<int>(2 * shape.batch) - 1, static_cast<double>(shape.batch) * each, gpu);
  return plan;
}

ConvolutionPlan plan_library_gemm(const ConvolutionShape& shape, const GpuSpec& gpu) {
  const bool strided = has_stride(shape) && shape.groups == 1 && shape.pass != ConvolutionPass::weight;
  ConvolutionPlan plan = !is_pointwise(shape) ? plan_patches(shape, gpu)
                         : !has_stride(shape) ? plan_pointwise(shape, gpu)
                         : strided            ? plan_strided(shape, gpu)
                                              : plan_patches(shape, gpu);
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

}  // namespace c3::gpu
