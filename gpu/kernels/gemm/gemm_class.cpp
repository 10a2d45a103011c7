#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "gpu/kernels/checks.hpp"
#include "gpu/kernels/gemm/gemm_choice.hpp"
#include "gpu/kernels/gemm/gemm_footprints.hpp"
#include "gpu/kernels/gemm/gemm_kernel.hpp"
#include "gpu/kernels/gemm/gemm_plan.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "gpu/kernels/operator_class.hpp"
#include "gpu/kernels/tiling.hpp"

namespace c3 { inline namespace gpu {
namespace {

constexpr std::array<std::string_view, 1> kOperators = {"gemm"};
constexpr std::array<std::string_view, 3> kAliases = {"bmm", "linear", "matmul"};

double product(auto... extents) { return (... * static_cast<double>(extents)); }

Operator read(const ShapeWords& words) {
  using enum ShapeKey;
  need(words, "gemm", {dtype, m, n, k});
  if (chosen_or(words, pass, Pass::forward) == Pass::backward)
    refuse(pass, "the backward pass of a gemm is two other gemms; write those instead");
  const GemmShape shape{.m = extent(words, m),
                        .n = extent(words, n),
                        .k = extent(words, k),
                        .dtype = chosen<DType>(words, dtype),
                        .batch = extent_or(words, b, 1),
                        .traffic = chosen_or(words, traffic, GemmTraffic::tiled),
                        .layout = chosen_or(words, layout, GemmLayout::tn),
                        .warm = chosen_or(words, warm, WarmOperands::none),
                        .scales = chosen_or(words, scales, GemmScales::tensor),
                        .result = chosen_or(words, result, GemmResult::rounded)};
  const bool is_fp4 = shape.dtype == DType::fp4;
  if (is_fp4 != (shape.scales == GemmScales::nv)) refuse(scales, "'nv' and dtype fp4 require each other");
  if (shape.scales != GemmScales::tensor && shape.dtype != DType::fp8 && !is_fp4)
    refuse(scales, fmt::format("'{}' requires dtype fp8", name_of(shape.scales)));
  const double elements = product(shape.m, shape.k) + product(shape.k, shape.n) + product(shape.m, shape.n);
  refuse_absurd(m, element_size(shape.dtype).value * static_cast<double>(shape.batch) * elements,
                2.0 * product(shape.batch, shape.m, shape.n, shape.k));
  return shape;
}

std::vector<ShapeField> fields(const GemmShape& shape) {
  using enum ShapeKey;
  return {{dtype, name_of(shape.dtype)},
          {b, shape.batch},
          {m, shape.m},
          {n, shape.n},
          {k, shape.k},
          {traffic, name_of(shape.traffic)},
          {layout, name_of(shape.layout)},
          {warm, name_of(shape.warm)},
          {scales, name_of(shape.scales)},
          {result, name_of(shape.result)}};
}

std::string shape_text(const GemmShape& shape) {
  const std::string batch = shape.batch == 1 ? "" : fmt::format("{} x ", shape.batch);
  const std::string_view streamed = shape.traffic == GemmTraffic::streamed ? " streamed" : "";
  const std::string layout = shape.layout == GemmLayout::tn ? "" : fmt::format(" {}", name_of(shape.layout));
  const std::string warm = shape.warm == WarmOperands::none ? "" : fmt::format(" warm {}", name_of(shape.warm));
  const std::string scales =
      shape.scales == GemmScales::tensor ? "" : fmt::format(" {} scales", name_of(shape.scales));
  const std::string result =
      shape.result == GemmResult::rounded ? "" : fmt::format(" {}", name_of(shape.result));
  return fmt::format("{}{} x {} x {} {}{}{}{}{}{}", batch, shape.m, shape.n, shape.k, name_of(shape.dtype),
                     streamed, layout, warm, scales, result);
}

Bytes output(const GemmShape& shape) { return result_size(shape) * product(shape.batch, shape.m, shape.n); }

Flops matrix_flops(const GemmShape& shape) {
  return Flops{2.0 * product(shape.batch, shape.m, shape.n, shape.k)};
}

std::string_view coefficients(const GemmShape& shape) {
  return shape.dtype == DType::fp32 ? "vector_gemm" : "matrix_gemm";
}

DType multiplies(const GemmShape& shape) { return shape.dtype; }

std::vector<std::int64_t> shape_numbers(const GemmShape& shape) {
  return {shape.m, shape.n, shape.k, shape.batch, static_cast<std::int64_t>(shape.dtype)};
}

std::vector<TouchedPhase> touches(const GemmShape& shape, const GpuSpec&) {
  const auto touched = touched_by(shape);
  return {{{}, {touched.begin(), touched.end()}}};
}

Operator part(const GemmShape& shape, std::int64_t parts) {
  GemmShape cut = shape;
  cut.m /= parts;
  return cut;
}

KernelDescription describe_tuned_gemm(std::string name, const GemmShape& shape, const GpuSpec& gpu,
                                      const KernelSlice& slice) {
  KernelDescription kernel = describe_product(std::move(name), shape, gpu, fastest_plan(shape, gpu, slice));
  check_fits(kernel, gpu);
  return kernel;
}

}  // namespace

extern constexpr OperatorClass kGemmClass = {.name = "gemm",
                                             .operators = kOperators,
                                             .aliases = kAliases,
                                             .read = read,
                                             .fields = on_shape<&fields>,
                                             .shape_text = on_shape<&shape_text>,
                                             .describe = on_shape<&describe_gemm>,
                                             .describe_tuned = on_shape<&describe_tuned_gemm>,
                                             .output = on_shape<&output>,
                                             .multiplies = on_shape<&multiplies>,
                                             .matrix_flops = on_shape<&matrix_flops>,
                                             .coefficients = on_shape<&coefficients>,
                                             .uses = on_shape<&use_of_product>,
                                             .shape_numbers = on_shape<&shape_numbers>,
                                             .touches = on_shape<&touches>,
                                             .part = on_shape<&part>};

const OperatorClass& operator_class(const GemmShape&) { return kGemmClass; }

GpuUse use_of_product(const GemmShape& shape, const GpuSpec& gpu) {
  const bool on_vectors = on_vector_units(shape.dtype, gpu);
  GpuUse use{.coefficients = {coefficients(shape), on_vectors ? "vector_gemm" : "matrix_gemm"},
             .peaks = {shape.dtype},
             .sustained = {shape.dtype},
             .streamed = shape.traffic == GemmTraffic::streamed};
  if (scaled_together(shape.scales) > 0) use.peaks.insert(DType::fp32);  // vector units scale
  return use;
}

std::int64_t scaled_together(GemmScales scales) {
  switch (scales) {
    case GemmScales::tensor:
      return 0;
    case GemmScales::block:
      return 128;
    case GemmScales::mx:
      return 32;
    case GemmScales::nv:
      return 16;
  }
  throw std::logic_error("scaled_together: unknown scales");
}

OperandSizes operand_sizes(const GemmShape& shape) {
  const Bytes element = element_size(shape.dtype);
  if (shape.scales == GemmScales::tensor) return {element, element};
  constexpr std::int64_t kColumnsOfBlock = 128;
  const bool of_columns = shape.scales != GemmScales::block;
  const Bytes scale = of_columns ? Bytes{1.0} : element_size(DType::fp32);
  const std::int64_t along_k = ceil_div(shape.k, scaled_together(shape.scales));
  const std::int64_t along_n = of_columns ? shape.n : ceil_div(shape.n, kColumnsOfBlock);
  const double in_b = product(along_k, along_n) / product(shape.k, shape.n);
  return {element + scale * (product(along_k) / product(shape.k)), element + scale * in_b};
}

Bytes result_size(DType dtype) { return std::max(element_size(dtype), element_size(DType::bf16)); }

bool adds(GemmResult result) { return result == GemmResult::added || result == GemmResult::added_fp32; }

Bytes result_size(const GemmShape& shape) {
  const bool is_wide = shape.result == GemmResult::fp32 || shape.result == GemmResult::added_fp32;
  return is_wide ? element_size(DType::fp32) : result_size(shape.dtype);
}

std::array<GemmShape, 2> backward(const GemmShape& forward) {
  GemmShape of_a = forward;
  of_a.n = forward.k;
  of_a.k = forward.n;
  of_a.layout = GemmLayout::nn;
  of_a.warm = WarmOperands::none;
  GemmShape of_b = forward;
  of_b.layout = GemmLayout::nt;
  of_b.warm = WarmOperands::none;
  of_b.m = forward.k;
  of_b.k = forward.m;
  return {of_a, of_b};
}

}}  // namespace c3::gpu
