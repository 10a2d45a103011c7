#include "gpu/kernels/scan/causal_conv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "engine/errors.hpp"
#include "gpu/kernels/checks.hpp"
#include "gpu/kernels/operator_class.hpp"
#include "gpu/kernels/tiling.hpp"
#include "gpu/kernels/vector/vector_instructions.hpp"
#include "gpu/kernels/vector/vector_traffic.hpp"

namespace c3 { inline namespace gpu {
namespace {

constexpr std::int64_t kBlockTokens = 8, kBlockChannels = 256;  // channels_last
constexpr std::int64_t kRowTokens = 1024;                       // channels_first: at a time
constexpr std::int64_t kWidest = 4;                             // window of either library
constexpr int kWaves = 4;
constexpr Bytes kRegisters{kWaves * 32 * 32 * 4.0};
constexpr double kOverlap = 8.0;  // as of other kernels that stream
// Of channels_first: a barrier stands between loading, exchanging and storing 1,024 tokens; assumed.
constexpr double kRowOverlap = 2.0;
constexpr double kBackwardWork =
    2.5;                           // over forward: the sum again, SiLU's slope, and two more sums of a window
constexpr double kFirstLoads = 2;  // one after the other: where the sequence lies, and its first numbers

double as_double(std::int64_t count) { return static_cast<double>(count); }

void check(const std::string& name, const CausalConvShape& shape) {
  check_extents(
      name,
      {{"b", shape.batch}, {"seq", shape.length}, {"channels", shape.channels}, {"window", shape.window}});
  if (shape.window > kWidest)
    throw InfeasibleError(fmt::format("'{}': window must be at most {}, not {}", name, kWidest, shape.window));
}

}  // namespace

CausalConvCounts counts_of(const CausalConvShape& shape) {
  const bool forward = shape.pass == Pass::forward;
  const bool rows = shape.layout == SequenceLayout::channels_first;
  CausalConvCounts counts;
  const std::int64_t blocks = ceil_div(shape.length, kBlockTokens) * ceil_div(shape.channels, kBlockChannels);
  counts.work_groups = shape.batch * (rows ? shape.channels : blocks);
  counts.tokens = as_double(rows ? ceil_div(shape.length, kRowTokens) : std::min(shape.length, kBlockTokens));
  counts.issued = rows ? counts.tokens * as_double(kRowTokens) : counts.tokens * as_double(kBlockChannels);
  counts.results = as_double(shape.batch) * as_double(shape.length) * as_double(shape.channels);
  counts.flops = Flops{(forward ? 2.0 : 6.0) * as_double(shape.window) * counts.results};
  const Bytes tensor = element_size(shape.dtype) * counts.results;
  const double weights = as_double(shape.channels) * as_double(shape.window + 1);
  counts.read = tensor * (forward ? 1.0 : 2.0) + element_size(shape.dtype) * weights;
  counts.written = tensor + (forward ? Bytes{} : element_size(DType::fp32) * weights);
  return counts;
}

KernelDescription describe_causal_conv(std::string name, const CausalConvShape& shape, const GpuSpec& gpu) {
  check(name, shape);
  const ScanCoefficients& of = gpu.kernels.scan;
  const CausalConvCounts counts = counts_of(shape);
  const auto work_groups = as_double(counts.work_groups);
  const bool rows = shape.layout == SequenceLayout::channels_first;
  const double work = shape.pass == Pass::forward ? 1.0 : kBackwardWork;
  KernelDescription kernel;
  kernel.name = std::move(name);
  kernel.work_groups = counts.work_groups;
  kernel.needs = {.lds = {}, .registers = kRegisters, .waves = kWaves};
  kernel.compute_time =
      Seconds{work * counts.issued * (rows ? of.conv_row_ops : of.conv_ops) / instructions_per_second(gpu)};
  const double waits = rows ? 0.0 : counts.tokens * of.token_cycles;
  kernel.least_time = gpu.hbm.latency * kFirstLoads + Seconds{work * waits / gpu.compute.boost_clock.value};
  kernel.clock = gpu.compute.boost_clock;
  kernel.overlap = rows ? kRowOverlap : kOverlap;
  kernel.flops = counts.flops / work_groups;
  kernel.useful_flops = counts.flops;
  kernel.peak = matrix_rate(gpu, DType::fp32).peak;
  kernel.outstanding = counts.read / work_groups;
  kernel.output = counts.written / work_groups;
  kernel.compulsory = counts.read + counts.written;
  kernel.measured_launch = kGraphLaunch;
  kernel.traffic =
      std::make_shared<VectorTraffic>(VectorTraffic::Loads{.once = counts.read / work_groups,
                                                           .tensors = counts.read + counts.written,
                                                           .sharpness = gpu.kernels.vector.miss_sharpness});
  check_fits(kernel, gpu);
  return kernel;
}

namespace {

constexpr std::array<std::string_view, 1> kOperators = {"causal_conv"};
constexpr std::array<std::string_view, 1> kAliases = {"causal_conv1d"};

Operator read(const ShapeWords& words) {
  using enum ShapeKey;
  need(words, "causal_conv", {dtype, seq, channels});
  const CausalConvShape shape{.batch = extent_or(words, b, 1),
                              .length = extent(words, seq),
                              .channels = extent(words, channels),
                              .window = extent_or(words, window, kWidest),
                              .dtype = chosen<DType>(words, dtype),
                              .pass = chosen_or(words, pass, Pass::forward),
                              .layout = chosen_or(words, layout, SequenceLayout::channels_last)};
  if (shape.dtype == DType::fp8 || shape.dtype == DType::fp4)
    refuse(dtype, "must be bf16, fp16 or fp32 of a causal convolution");
  if (shape.window > kWidest) refuse(window, fmt::format("must be at most {}, not {}", kWidest, shape.window));
  const double results = as_double(shape.batch) * as_double(shape.length) * as_double(shape.channels);
  refuse_absurd(seq, 12.0 * results, 24.0 * results);
  return shape;
}

std::vector<ShapeField> fields(const CausalConvShape& shape) {
  using enum ShapeKey;
  return {{dtype, name_of(shape.dtype)},  {b, shape.batch},       {seq, shape.length},
          {channels, shape.channels},     {window, shape.window}, {pass, name_of(shape.pass)},
          {layout, name_of(shape.layout)}};
}

/// "2 of 4096 x 8192 bf16, windows of 4 channels_first backward"
std::string shape_text(const CausalConvShape& shape) {
  return fmt::format("{} of {} x {} {}, windows of {}{}{}", shape.batch, shape.length, shape.channels,
                     name_of(shape.dtype), shape.window,
                     shape.layout == SequenceLayout::channels_first ? " channels_first" : "",
                     shape.pass == Pass::backward ? " backward" : "");
}

Bytes output(const CausalConvShape& shape) { return counts_of(shape).written; }

std::string_view coefficients(const CausalConvShape&) { return "scan"; }

GpuUse uses(const CausalConvShape&, const GpuSpec&) {
  GpuUse use = use_of_vector_units("scan");
  use.coefficients.insert("vector");
  return use;
}

std::vector<std::int64_t> shape_numbers(const CausalConvShape& shape) {
  return {shape.batch, shape.length, shape.channels, shape.window, static_cast<std::int64_t>(shape.layout)};
}

/// Sequences are cut, never a sequence.
Operator part_of_conv(const CausalConvShape& shape, std::int64_t parts) {
  CausalConvShape cut = shape;
  cut.batch = ceil_div(shape.batch, parts);
  return cut;
}

}  // namespace

extern constexpr OperatorClass kCausalConvClass = {.name = "causal_conv",
                                                   .operators = kOperators,
                                                   .aliases = kAliases,
                                                   .read = read,
                                                   .fields = on_shape<&fields>,
                                                   .shape_text = on_shape<&shape_text>,
                                                   .describe = on_shape<&describe_causal_conv>,
                                                   .output = on_shape<&output>,
                                                   .coefficients = on_shape<&coefficients>,
                                                   .uses = on_shape<&uses>,
                                                   .shape_numbers = on_shape<&shape_numbers>,
                                                   .part = on_shape<&part_of_conv>};

const OperatorClass& operator_class(const CausalConvShape&) { return kCausalConvClass; }

}}  // namespace c3::gpu
