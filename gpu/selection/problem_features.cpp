#include "gpu/selection/problem_features.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "engine/errors.hpp"
#include "gpu/kernels/convolution/solver.hpp"
#include "gpu/kernels/describe.hpp"

namespace c3 { inline namespace gpu {
namespace {

class FeatureList {
 public:
  void add(double value) { values_.push_back(static_cast<float>(value)); }
  void log(double value) { add(std::log2(value)); }
  void whole(std::int64_t value) { add(static_cast<double>(value)); }
  void log_whole(std::int64_t value) { log(static_cast<double>(value)); }

  std::vector<float> take() { return std::move(values_); }

 private:
  std::vector<float> values_;
};

/// How often 2 divides \p value, up to 8 times: what vector loads and tiles ask for.
std::int64_t twos_in(std::int64_t value) {
  constexpr std::int64_t kMost = 8;
  return std::min<std::int64_t>(kMost, std::countr_zero(static_cast<std::uint64_t>(value)));
}

/// Pieces of \p side that \p extent takes.
double pieces(std::int64_t extent, double side) { return std::ceil(static_cast<double>(extent) / side); }

/// Share of the pieces of \p side that \p extent fills.
double filled(std::int64_t extent, double side) {
  return static_cast<double>(extent) / (pieces(extent, side) * side);
}

constexpr std::array kSides = {32.0, 64.0, 128.0, 256.0};

/// A product by itself: sizes, powers of two in them, tiles, and the work groups for each CU.
void add_product(FeatureList& list, const ConvolutionProduct& product, const GpuSpec& gpu) {
  for (const std::int64_t extent : {product.m, product.n, product.k}) {
    list.log_whole(extent);
    list.whole(twos_in(extent));
  }
  list.log(static_cast<double>(product.m) * static_cast<double>(product.n));
  list.log(static_cast<double>(product.m) / static_cast<double>(product.n));
  const double count = static_cast<double>(product.count) / gpu.compute.cus();
  for (const double side : kSides) {
    list.add(filled(product.m, side));
    list.add(filled(product.n, side));
    const double waves = pieces(product.m, side) * pieces(product.n, kSides[2]) * count;
    list.log(waves);
    list.add(waves / std::ceil(waves));
  }
}

/// Time of each of our solvers over the least of theirs, as a logarithm, and that least one. Trees were trained
/// on times with the fastest plans, so that these do not follow the GPU's GemmChoice.
void add_modelled_times(FeatureList& list, ConvolutionShape shape, GpuSpec gpu) {
  gpu.library_choice = nullptr;
  constexpr double kMost = 3.0;  // also of those that cannot run it
  constexpr double kMicroseconds = 1e6;
  std::vector<double> times;
  for (const SolverEntry* solver : convolution_solvers()) {
    shape.solver = solver->solver;
    times.push_back(solver->can_run(shape) ? time_of(shape, gpu).time.value * kMicroseconds
                                           : std::numeric_limits<double>::infinity());
  }
  const double least = std::ranges::min(times);
  if (std::isinf(least)) throw InfeasibleError("no solver can run this convolution");
  for (const double time : times)
    list.add(std::min(kMost, std::log2(time / least)));
  list.log(least);
}

}  // namespace

std::vector<float> features_of(const ConvolutionShape& shape, const GpuSpec& gpu) {
  const Extent2 out = output_extent(shape);
  const std::int64_t channels = channels_of_group(shape);
  const std::int64_t filters = filters_of_group(shape);
  FeatureList list;
  for (const std::int64_t size :
       {shape.batch, channels, filters, shape.groups, shape.image.h, shape.image.w, out.h, out.w})
    list.log_whole(size);
  for (const std::int64_t size : {shape.filter.h, shape.filter.w, shape.pad.h, shape.pad.w, shape.stride.h,
                                  shape.stride.w, shape.dilation.h, shape.dilation.w})
    list.whole(size);
  list.whole(shape.dtype == DType::fp16 ? 1 : 0);
  for (const std::int64_t size : {shape.batch, channels, filters, out.h * out.w, shape.image.h * shape.image.w})
    list.whole(twos_in(size));
  for (const double side : {16.0, 32.0}) {
    list.add(filled(channels, side));
    list.add(filled(filters, side));
  }
  for (const double side : {2.0, 3.0, 6.0})  // results of a Winograd tile
    list.add(filled(out.h, side) * filled(out.w, side));

  const ConvolutionTensors tensors = tensors_of(shape);
  const double flops = 2.0 * direct_multiplications(shape);
  list.log(flops);
  list.log(tensors.all());
  list.log(flops / tensors.all());
  list.log(tensors.input / tensors.output);
  list.log(tensors.filters / tensors.input);
  add_product(list, product_of(shape), gpu);
  add_modelled_times(list, shape, gpu);
  return list.take();
}

std::vector<float> features_of(const GemmShape& shape, const GpuSpec& gpu) {
  FeatureList list;
  list.log_whole(shape.batch);
  list.whole(static_cast<std::int64_t>(shape.layout));
  list.whole(static_cast<std::int64_t>(shape.dtype));
  list.whole(gpu.compute.cus());
  list.log(static_cast<double>(shape.m) * static_cast<double>(shape.n) * static_cast<double>(shape.k));
  for (const std::int64_t extent : {shape.m, shape.n, shape.k})
    for (const double side : {16.0, 96.0, 160.0})
      list.add(filled(extent, side));
  add_product(list, {.m = shape.m, .n = shape.n, .k = shape.k, .count = shape.batch}, gpu);
  return list.take();
}

std::string kind_of(const ConvolutionShape& shape) {
  std::string kind = fmt::format("{} {}x{}", name_of(shape.dtype), shape.filter.h, shape.filter.w);
  if (shape.stride != Extent2{1, 1}) kind += " strided";
  if (shape.dilation != Extent2{1, 1}) kind += " dilated";
  if (shape.groups > 1) kind += " grouped";
  return kind;
}

std::string kind_of(const GemmShape& shape) { return std::string(name_of(shape.dtype)); }

}}  // namespace c3::gpu
