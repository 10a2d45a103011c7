#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "base/nearest_name.hpp"
#include "gpu/kernels/operator_class.hpp"
#include "gpu/kernels/vector/vector_kernel.hpp"
#include "gpu/kernels/vector/vector_shape.hpp"

namespace c3 { inline namespace gpu {
namespace {

/// PyTorch's own kernels of norms.
constexpr std::string_view kEager = "_eager";
constexpr std::array<std::string_view, 2> kEagerNorms = {"layernorm_eager", "rmsnorm_eager"};

constexpr auto kOperators = [] {
  std::array<std::string_view, kVectorOps.size() + kEagerNorms.size()> names;
  const auto rest = std::ranges::transform(kVectorOps, names.begin(), &VectorOpTraits::name).out;
  std::ranges::copy(kEagerNorms, rest);
  return names;
}();

// NeuSight's tables, times of PyTorch's own kernels, call a layer norm "ln".
using Alias = std::pair<std::string_view, std::string_view>;
constexpr std::array<Alias, 3> kMeanings = {
    {{"ln", "layernorm_eager"}, {"layer_norm", "layernorm"}, {"rms_norm", "rmsnorm"}}};
constexpr std::array kAliases = {kMeanings[0].first, kMeanings[1].first, kMeanings[2].first};

std::string_view without_alias(std::string_view op) {
  const auto found = std::ranges::find(kMeanings, op, &Alias::first);
  return found == kMeanings.end() ? op : found->second;
}

bool is_eager(std::string_view op) { return without_alias(op).ends_with(kEager); }

/// The operator of one name of a chain.
std::optional<VectorOp> op_named(std::string_view name) {
  std::string_view plain = without_alias(name);
  if (!is_eager(name)) return vector_op(plain);
  plain.remove_suffix(kEager.size());
  const std::optional<VectorOp> op = vector_op(plain);
  return op && has_eager_kernel(*op) ? op : std::nullopt;
}

/// "gelu+add"
VectorChain chain_of(std::string_view names) {
  std::optional<VectorChain> chain;
  while (true) {
    const std::string_view name = names.substr(0, names.find('+'));
    const std::optional<VectorOp> op = op_named(name);
    if (!op) {
      const std::vector<std::string> known(kOperators.begin(), kOperators.end());
      refuse(ShapeKey::op, unknown_name("operator", name, known));
    }
    try {
      chain ? chain->append(*op) : void(chain = *op);
    } catch (const std::logic_error& error) {
      refuse(ShapeKey::op, error.what());
    }
    if (name.size() == names.size()) return *chain;
    names.remove_prefix(name.size() + 1);
  }
}

Operator read(const ShapeWords& words) {
  using enum ShapeKey;
  const VectorChain chain = chain_of(words[op]);
  need(words, words[op], {dtype, rows, cols});
  const VectorShape shape{.chain = chain,
                          .rows = extent(words, rows),
                          .cols = extent(words, cols),
                          .dtype = chosen<DType>(words, dtype),
                          .pass = chosen_or(words, pass, Pass::forward),
                          .is_eager = is_eager(words[op]),
                          .warm = chosen_or(words, warm, WarmOperands::all)};
  if (shape.warm == WarmOperands::activations)
    refuse(warm, "'activations' is of a gemm; of a vector operator it is 'all' or 'none'");
  const bool is_of_fp32 = chain.first() == VectorOp::quantize_mx9 || chain.first() == VectorOp::quantize_mx6 ||
                          chain.first() == VectorOp::quantize_mx9_both ||
                          chain.first() == VectorOp::quantize_mx6_both;
  if (is_of_fp32 && shape.dtype != DType::fp32)
    refuse(dtype,
           fmt::format("'{}' casts fp32 (dtype is \"{}\")", name_of(chain.first()), name_of(shape.dtype)));
  double tensors = 0;
  double flops = 0;
  for (const VectorOp each : chain) {
    const VectorOpTraits& cost = traits(each);
    tensors += std::max(cost.reads + cost.writes, cost.backward_reads + cost.backward_writes);
    flops += cost.flops;
  }
  const double elements = static_cast<double>(shape.rows) * static_cast<double>(shape.cols);
  refuse_absurd(rows, element_size(DType::fp32).value * tensors * elements, flops * elements);
  return shape;
}

std::vector<ShapeField> fields(const VectorShape& shape) {
  using enum ShapeKey;
  return {{dtype, name_of(shape.dtype)},
          {rows, shape.rows},
          {cols, shape.cols},
          {pass, name_of(shape.pass)},
          {warm, name_of(shape.warm)}};
}

std::string shape_text(const VectorShape& shape) {
  return fmt::format("{} x {} {}{}{}", shape.rows, shape.cols, name_of(shape.dtype),
                     shape.pass == Pass::backward ? " backward" : "",
                     shape.warm == WarmOperands::none ? " cold" : "");
}

/// The chain's names joined by '+'.
std::string chain_name(const VectorShape& shape) {
  std::string name;
  for (const VectorOp part : shape.chain)
    (name += name.empty() ? "" : "+") += name_of(part);
  if (shape.is_eager) name += kEager;
  return name;
}

Bytes output(const VectorShape& shape) {
  const VectorOpTraits& last = traits(*(shape.chain.end() - 1));
  const bool forward = shape.pass == Pass::forward;
  const bool is_sum = shape.chain.first() == VectorOp::reduce && forward;
  const double cols = is_sum ? 1.0 : static_cast<double>(shape.cols);
  const double tensors = is_sum ? 1.0 : (forward ? last.writes : last.backward_writes);
  return element_size(shape.dtype) * (tensors * static_cast<double>(shape.rows) * cols) + scale_bytes(shape);
}

std::string_view coefficients(const VectorShape&) { return "vector"; }

GpuUse uses(const VectorShape&, const GpuSpec&) { return use_of_vector_units("vector"); }

std::vector<std::int64_t> shape_numbers(const VectorShape& shape) {
  std::vector<std::int64_t> numbers;
  for (const VectorOp part : shape.chain)
    numbers.push_back(static_cast<std::int64_t>(part));
  for (const std::int64_t number :
       {shape.rows, shape.cols, static_cast<std::int64_t>(shape.dtype), static_cast<std::int64_t>(shape.pass)})
    numbers.push_back(number);
  return numbers;
}

std::string_view group(const VectorShape& shape) {
  switch (shape.chain.first()) {
    case VectorOp::softmax:
      return "softmax";
    case VectorOp::layernorm:
    case VectorOp::rmsnorm:
    case VectorOp::layernorm_quantize:
    case VectorOp::rmsnorm_quantize:
      return "norm";
    case VectorOp::embedding:
      return "embedding";
    case VectorOp::sgd:
    case VectorOp::adam:
      return "optimizer";
    default:
      return "elementwise";
  }
}

Operator part(const VectorShape& shape, std::int64_t parts) {
  VectorShape cut = shape;
  cut.rows = (shape.rows + parts - 1) / parts;
  return cut;
}

}  // namespace

extern constexpr OperatorClass kVectorClass = {.name = "vector",
                                               .operators = kOperators,
                                               .aliases = kAliases,
                                               .read = read,
                                               .fields = on_shape<&fields>,
                                               .shape_text = on_shape<&shape_text>,
                                               .describe = on_shape<&describe_vector>,
                                               .output = on_shape<&output>,
                                               .name_of = on_shape<&chain_name>,
                                               .fuses = true,
                                               .coefficients = on_shape<&coefficients>,
                                               .uses = on_shape<&uses>,
                                               .shape_numbers = on_shape<&shape_numbers>,
                                               .group = on_shape<&group>,
                                               .part = on_shape<&part>};

const OperatorClass& operator_class(const VectorShape&) { return kVectorClass; }

}}  // namespace c3::gpu
