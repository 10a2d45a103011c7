/// Convolutions, as the products that implicit GEMM makes of them.

#include <algorithm>

#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "workloads/traces/retiming/derivation.hpp"

namespace c3 { inline namespace traces {
namespace {

/// Positions of the arguments that make a convolution.
struct ConvolutionRule {
  std::string_view op;
  std::size_t input;
  std::size_t weight;
  std::size_t padding;
  std::size_t stride;
  std::size_t dilation;
  std::size_t groups;
};

/// Schemas of PyTorch (native_functions.yaml).
constexpr std::array kConvolutions{
    ConvolutionRule{"cudnn_convolution", 0, 1, 2, 3, 4, 5},
    ConvolutionRule{"miopen_convolution", 0, 1, 3, 4, 5, 6},
    ConvolutionRule{"convolution_backward", 1, 2, 5, 4, 6, 9},
};

/// What a kernel of a convolution computes.
enum class Part : std::uint8_t { output, input_gradient, weight_gradient, unknown };

Part part_of(const LaunchedKernel& kernel) {
  if (kernel.op != "convolution_backward") return Part::output;
  const auto has = [&](auto... words) { return (kernel.is_named(words) || ...); };
  if (has("wgrad", "wrw", "bwd_weight", "backward_weights")) return Part::weight_gradient;
  if (has("dgrad", "igemm_bwd", "bwd_data", "backward_data")) return Part::input_gradient;
  return Part::unknown;
}

/// Sizes of one image, its spatial dimensions merged.
struct Sizes {
  std::int64_t batch = 0;                    ///< images
  std::int64_t in = 1, out = 1, kernel = 1;  ///< points of input, output, filter
  std::int64_t in_channels = 0, out_channels = 0, strides = 1;
};

std::int64_t value_at(const std::vector<std::int64_t>& values, std::size_t dimension, std::int64_t otherwise) {
  if (values.empty()) return otherwise;
  return values[std::min(dimension, values.size() - 1)];
}

constexpr std::int64_t kLargestExtent = 1 << 20;  ///< of filters, strides, borders

/// Nothing where extents do not make a convolution.
std::optional<Sizes> sizes_of(const LaunchedKernel& kernel, const ConvolutionRule& rule) {
  const OpArgument& input = kernel[rule.input];
  const OpArgument& weight = kernel[rule.weight];
  if (!input.is_tensor() || !weight.is_tensor()) return std::nullopt;
  const Dims& in = input.tensors.front();
  const Dims& filter = weight.tensors.front();
  if (in.size() < 3 || in.size() != filter.size()) return std::nullopt;
  const std::vector<std::int64_t> padding = whole_numbers(kernel[rule.padding].value);
  const std::vector<std::int64_t> stride = whole_numbers(kernel[rule.stride].value);
  const std::vector<std::int64_t> dilation = whole_numbers(kernel[rule.dilation].value);
  if (stride.empty()) return std::nullopt;
  Dims out;
  Sizes sizes{.batch = in[0], .in_channels = in[1], .out_channels = filter[0]};
  for (std::size_t i = 2; i < in.size(); ++i) {
    const std::int64_t step = value_at(stride, i - 2, 1);
    const std::int64_t border = value_at(padding, i - 2, 0);
    const std::int64_t spread = value_at(dilation, i - 2, 1);
    const bool is_believed = step > 0 && std::max({step, border, spread, filter[i]}) < kLargestExtent &&
                             std::min({border, spread, filter[i] - 1}) >= 0;
    if (!is_believed) return std::nullopt;
    const std::int64_t room = in[i] + 2 * border - (spread * (filter[i] - 1) + 1);
    if (room < 0) return std::nullopt;
    out.push_back(room / step + 1);
    sizes.strides *= step;
    if (sizes.strides >= kLargestExtent) return std::nullopt;
  }
  sizes.out = elements(out);
  sizes.in = elements({in.begin() + 2, in.end()});
  sizes.kernel = elements({filter.begin() + 2, filter.end()});
  return sizes;
}

}  // namespace

bool is_convolution(std::string_view op) {
  return rule_named(std::span<const ConvolutionRule>(kConvolutions), op) != nullptr;
}

KernelOperator derive_convolution(const LaunchedKernel& kernel) {
  const ConvolutionRule& rule = *rule_named(std::span<const ConvolutionRule>(kConvolutions), kernel.op);
  const bool multiplies = kernel.work == WorkClass::convolution || kernel.work == WorkClass::gemm;
  if (!multiplies || kernel.is_named("nchwtonhwc") || kernel.is_named("nhwctonchw"))
    return not_found("a kernel beside a convolution: which tensor it moves is not recorded");
  if (kernel[rule.groups].value != "1")
    return not_found("a convolution in groups, or of a number not recorded");
  const std::optional<Sizes> sizes = sizes_of(kernel, rule);
  if (!sizes) return not_found("a convolution without all of its shapes");
  const std::optional<DType> dtype = dtype_of(kernel[rule.input].type);
  if (!dtype) return not_found("a convolution in a type without a rate");
  const std::int64_t points = elements({sizes->batch, sizes->out});
  const std::int64_t filter = elements({sizes->in_channels, sizes->kernel});
  switch (part_of(kernel)) {
    case Part::output:
      return found_product(kernel, {.m = points, .n = sizes->out_channels, .k = filter, .dtype = *dtype},
                           "convolution: implicit GEMM");
    case Part::weight_gradient:
      return found_product(kernel, {.m = sizes->out_channels, .n = filter, .k = points, .dtype = *dtype},
                           "convolution, gradient of weights: implicit GEMM");
    case Part::input_gradient: {
      // Each point in is reached by one in `strides` of the filter's points.
      const std::int64_t k = (elements({sizes->out_channels, sizes->kernel}) - 1) / sizes->strides + 1;
      return found_product(
          kernel, {.m = elements({sizes->batch, sizes->in}), .n = sizes->in_channels, .k = k, .dtype = *dtype},
          "convolution, gradient of input: implicit GEMM");
    }
    case Part::unknown:
      break;
  }
  return not_found("a convolution's backward kernel whose name does not say which gradient it makes");
}

}}  // namespace c3::traces
