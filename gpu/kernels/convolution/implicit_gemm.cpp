#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "gpu/kernels/convolution/plan_parts.hpp"
#include "gpu/kernels/gemm/gemm_choice.hpp"
#include "gpu/kernels/gemm/gemm_kernel.hpp"
#include "gpu/kernels/tiling.hpp"

namespace c3 { inline namespace gpu {
namespace {

// Work groups add parts of a long k to the same result by atomics: parts by powers of two, each of at least
// this many k. Kernels for images with their channels apart cut the batch only; others take k as one, once both
// tensors have been transposed (ROCm/MIOpen, gemm_k_global_split and GemmKBlocks of its implicit GEMMs for
// weights).
constexpr std::int64_t kMostParts = 256;
constexpr std::int64_t kShortestPart = 64;
constexpr double kAccumulator = 4.0;  // bytes

// Tiles are padded by the kernel, so that rows that begin at odd addresses do not make loads narrow.
constexpr std::int64_t kAligned = 8;
std::int64_t aligned(std::int64_t extent) { return ceil_div(extent, kAligned) * kAligned; }

/// Loads of a product whose operand is gathered from an image: L2 is asked for every tap of every pixel, and
/// what misses it are pixels, each once for all taps.
class GatheredTraffic final : public TrafficModel {
 public:
  GatheredTraffic(std::shared_ptr<const TrafficModel> of_product, double distinct)
      : of_product_(std::move(of_product)), distinct_(distinct) {}

  Traffic per_work_group(const CacheState& state) const override {
    Traffic traffic = of_product_->per_work_group(state);
    traffic.llc = distinct_ * traffic.llc;
    traffic.hbm = distinct_ * traffic.hbm;
    return traffic;
  }

 private:
  std::shared_ptr<const TrafficModel> of_product_;
  double distinct_;
};

/// Elements of the tensors that the pass reads, over those of the matrices that they stand for.
double distinct_share(const ConvolutionShape& shape, const ConvolutionProduct& product) {
  const double read = tensors_of(shape).all() - written_elements(shape);
  const auto k = static_cast<double>(product.k);
  const double as_matrices = static_cast<double>(product.count) * k *
                             (static_cast<double>(product.m) + static_cast<double>(product.n));
  return std::min(1.0, read / as_matrices);
}

// Bytes of k that one step of the loop loads of each row: 32 fp16 or 16 fp32 in the kernels of ROCm/MIOpen,
// which load one step ahead, through registers.
constexpr Bytes kStep{64.0};

/// Steps of k that are on their way while one is multiplied: those of a tile's depth that LDS has beside it,
/// where copies to LDS are asynchronous (the kernels of cuDNN, which are CUTLASS's multistage pipelines).
struct Pipeline {
  Bytes step;
  double ahead;
};

Pipeline pipeline_of(const GemmPlan& plan, DType dtype, const GpuSpec& gpu) {
  const int stages = gpu.library_kernels.gemm_stages;
  if (stages == 1 || on_vector_units(dtype, gpu)) return {.step = kStep, .ahead = 1.0};
  const Bytes step = element_size(dtype) * static_cast<double>(plan.tile.k);
  const double fit =
      std::floor(gpu.compute.lds_per_cu / (step * static_cast<double>(plan.tile.m + plan.tile.n)));
  return {.step = step, .ahead = std::max(1.0, (stages == 0 ? fit : stages) - 1.0)};
}

/// Each step of the loop over k waits for the slowest of its loads: one that some work group is the first to
/// ask for.
Seconds waiting(std::int64_t k, const Pipeline& pipeline, DType dtype, const GpuSpec& gpu) {
  const double steps = static_cast<double>(k) * (element_size(dtype) / pipeline.step);
  return gpu.hbm.latency * (steps / pipeline.ahead);
}

// Vector instructions of a load on its way from the image to LDS: the load, the store, the step of its address
// and the check that it is no padding (assumed).
constexpr double kInstructionsOfLoad = 4.0;
constexpr double kWidestLoad = 16.0;  // bytes of a lane

/// Rows of images begin anywhere, so that each element is loaded by itself; where channels lie together, as
/// many as a lane can load.
double elements_of_load(const ConvolutionShape& shape) {
  const auto most = static_cast<std::int64_t>(kWidestLoad / element_size(shape.dtype).value);
  if (shape.layout == ImageLayout::nchw) return 1.0;
  return static_cast<double>(std::gcd(most, std::gcd(channels_of_group(shape), filters_of_group(shape))));
}

/// Of a work group's operands, by the vector units beside its products.
Seconds gathering(const KernelDescription& kernel, const ConvolutionShape& shape, const GpuSpec& gpu) {
  CacheState state;
  state.xcds = gpu.compute.xcds;
  const double elements = kernel.traffic->per_work_group(state).l2 / element_size(shape.dtype);
  return Seconds{kInstructionsOfLoad * (elements / elements_of_load(shape)) /
                 vector_multiplications(shape, gpu, false)};
}

/// In the data pass, pixels between the steps of a small filter get no value: all are zeroed first.
double zeroed_elements(const ConvolutionShape& shape) {
  const bool has_gaps = shape.filter.h < shape.stride.h || shape.filter.w < shape.stride.w;
  return shape.pass == ConvolutionPass::data && has_gaps ? tensors_of(shape).input : 0.0;
}

/// Images whose channels are put together, so that k is one.
KernelPhase transpose_of(const std::string& name, std::int64_t channels, double elements, Bytes element) {
  const auto columns = static_cast<double>(channels);
  return phase_of("transpose of " + name,
                  {streamed(name, element * elements, false),
                   across(name + ", transposed", elements / columns, columns, element, true)});
}

/// What the product touches of the transposed images: a step of pixels lies together.
std::vector<TouchedTensor> transposed(std::vector<TouchedTensor> touches, const ConvolutionShape& shape) {
  ConvolutionShape together = shape;
  together.layout = ImageLayout::nhwc;
  std::vector<TouchedTensor> of_together = touched_by(together, {.channels = 1, .pixels = kStepOfProduct});
  for (std::size_t i = 0; i < touches.size(); ++i) {
    touches[i].footprint = of_together[i].footprint;
    if (!touches[i].is_written) touches[i].name += ", transposed";
  }
  return touches;
}

/// The kernel of \p gemm by \p tiles, whose operands are gathered from images; \p distinct as distinct_share.
KernelDescription gathered(const GemmShape& gemm, const GemmPlan& tiles, const ConvolutionShape& shape,
                           double distinct, const GpuSpec& gpu) {
  KernelDescription kernel = describe_product("convolution", gemm, gpu, tiles);
  const double share = gpu.kernels.convolution.implicit_share;
  kernel.compute_time = kernel.compute_time / share + gathering(kernel, shape, gpu);
  kernel.least_time = std::max(kernel.least_time / share,
                               waiting(gemm.k, pipeline_of(tiles, shape.dtype, gpu), shape.dtype, gpu));
  kernel.traffic = std::make_shared<GatheredTraffic>(kernel.traffic, distinct);
  kernel.useful_flops = Flops{2.0 * direct_multiplications(shape)};
  kernel.persistent = {};
  set_totals(kernel, shape);
  write_once(kernel, shape);
  return kernel;
}

/// The convolution with its k in \p parts.
ConvolutionPlan planned(const ConvolutionShape& shape, std::int64_t parts, const PlanTarget& target) {
  const GpuSpec& gpu = target.gpu;
  const ConvolutionProduct product = product_of(shape);
  const GemmShape gemm{.m = aligned(product.m),
                       .n = aligned(product.n),
                       .k = aligned(ceil_div(product.k, parts)),
                       .dtype = shape.dtype,
                       .batch = product.count * parts};
  ConvolutionPlan plan;
  KernelDescription& kernel = plan.kernel;
  // The library's own kernel, which its BLAS does not choose.
  const double distinct = distinct_share(shape, product);
  const auto by = [&](const GemmPlan& tiles) { return gathered(gemm, tiles, shape, distinct, gpu); };
  const auto time_of = [&](const GemmPlan& tiles) { return on_device(by(tiles), target); };
  const double faster = std::max(1.0, gpu.kernels.convolution.implicit_share);
  kernel = by(fastest_plan(gemm, gpu, target.slice, {.time_of = time_of, .faster = faster}));
  const std::int64_t taps = shape.filter.h * shape.filter.w;
  kernel.touches = touched_by(shape, {.channels = ceil_div(kStepOfProduct, taps), .pixels = kStepOfProduct});
  const Bytes element = element_size(shape.dtype);
  if (parts == 1) {
    const Bytes zeroed = element * zeroed_elements(shape);
    const bool zeroes = zeroed.value > 0.0;
    if (zeroes) kernel.before = {clearing(streamed("input gradient", zeroed, true), gpu)};
    add_kernels(plan, zeroes ? 1 : 0, {}, gpu);
    return plan;
  }
  // The results are zeroed first; caches add the parts, at twice HBM's rate as for products in parts.
  const double results = written_elements(shape);
  const Bytes added{static_cast<double>(parts) * results * kAccumulator};
  const Seconds summing = added / (2.0 * gpu.hbm.read);
  kernel.before = {clearing(streamed("filter gradient", element * results, true), gpu)};
  if (shape.batch % parts == 0 || shape.layout == ImageLayout::nhwc) {
    add_kernels(plan, 1, summing, gpu);
    return plan;
  }
  const ConvolutionTensors tensors = tensors_of(shape);
  plan.workspace = element * (tensors.input + tensors.output);
  std::vector<KernelPhase> transposes =
      rearranging({transpose_of("input", shape.channels, tensors.input, element),
                   transpose_of("output gradient", shape.filters, tensors.output, element)},
                  gpu);
  std::ranges::move(transposes, std::back_inserter(kernel.before));
  kernel.touches = transposed(kernel.touches, shape);
  add_kernels(plan, 3, summing, gpu);
  return plan;
}

ConvolutionPlan plan_implicit_gemm(const ConvolutionShape& shape, const PlanTarget& target) {
  FastestPlan fastest(target);
  fastest.take(planned(shape, 1, target));
  if (shape.pass != ConvolutionPass::weight) return std::move(fastest).best();
  const std::int64_t k = product_of(shape).k;
  const auto can_cut = [&](std::int64_t parts) { return parts <= kMostParts && k >= parts * kShortestPart; };
  for (std::int64_t parts = 2; can_cut(parts); parts *= 2)
    fastest.take(planned(shape, parts, target));
  return std::move(fastest).best();
}

bool can_run(const ConvolutionShape&) { return true; }

}  // namespace

extern constexpr SolverEntry kImplicitGemm = {.solver = ConvolutionSolver::implicit_gemm,
                                              .requires_ = "nothing",
                                              .can_run = can_run,
                                              .plan = plan_implicit_gemm};

}}  // namespace c3::gpu
