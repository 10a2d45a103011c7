/// Kernels that apply one function to each element, of one tensor or of lists of tensors.

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "workloads/traces/retiming/moved_bytes.hpp"

namespace c3 { inline namespace traces {
namespace {

/// Elementwise operators that do not read all their tensors: which of the arguments they read, and as what they
/// are written when they read as much as that operator does.
struct ElementwiseRule {
  std::string_view op;
  std::size_t first = 0;
  std::size_t count = kAll;
  VectorOp like = VectorOp::copy;
  static constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();
};

constexpr std::array kElementwise{
    ElementwiseRule{"copy", 1, 1},
    ElementwiseRule{"fill", 0, 0},
    ElementwiseRule{"zero", 0, 0},
    ElementwiseRule{"arange", 0, 0},
    ElementwiseRule{"normal", 0, 0},
    ElementwiseRule{"uniform", 0, 0},
    ElementwiseRule{"bernoulli", 0, 0},
    ElementwiseRule{"random", 0, 0},
    ElementwiseRule{"add", 0, 2, VectorOp::add},
    ElementwiseRule{"sub", 0, 2, VectorOp::sub},
    ElementwiseRule{"mul", 0, 2, VectorOp::mul},
    ElementwiseRule{"div", 0, 2, VectorOp::div},
    ElementwiseRule{"pow", 0, 2, VectorOp::pow},
    ElementwiseRule{"relu", 0, 1, VectorOp::relu},
    ElementwiseRule{"clamp_min", 0, 1, VectorOp::relu},
    ElementwiseRule{"gelu", 0, 1, VectorOp::gelu},
    ElementwiseRule{"tanh", 0, 1, VectorOp::tanh},
    ElementwiseRule{"sigmoid", 0, 1, VectorOp::exp},
    ElementwiseRule{"silu", 0, 1, VectorOp::silu},
    ElementwiseRule{"exp", 0, 1, VectorOp::exp},
    ElementwiseRule{"rsqrt", 0, 1},
    ElementwiseRule{"neg", 0, 1},
    ElementwiseRule{"nan_to_num", 0, 1},
};

/// Names of kernels that apply one function to each element.
constexpr std::array<std::string_view, 9> kElementwiseKernels{"elementwise", "triton_poi", "op_tensor",
                                                              "optensor",    "tensorop",   "triu_tril",
                                                              "dropout",     "bias_gelu",  "arange"};

/// Its elements are broadcast to a common shape, whose extents are the largest of each dimension.
double broadcast_elements(const LaunchedKernel& kernel, std::size_t first, std::size_t count) {
  Dims out;  // the last dimension first
  for (std::size_t i = first; i < kernel.arguments->size() && i - first < count; ++i) {
    if (!kernel[i].is_tensor()) continue;
    const Dims& dims = kernel[i].tensors.front();
    out.resize(std::max(out.size(), dims.size()), 1);
    for (std::size_t place = 0; place < dims.size(); ++place)
      out[place] = std::max(out[place], dims[dims.size() - 1 - place]);
  }
  return static_cast<double>(elements(out));
}

bool is_comparison(std::string_view op) {
  constexpr std::array<std::string_view, 11> kNames{
      "eq", "ne", "lt", "gt", "le", "ge", "isinf", "isfinite", "isnan", "logical_not", "logical_and"};
  return std::ranges::find(kNames, op) != kNames.end();
}

/// A tensor without dimensions has a type, but what has no tensor at all may write any number of elements.
KernelOperator derive_single_number(const LaunchedKernel& kernel) {
  const bool has_list = std::any_of(kernel.arguments->begin(), kernel.arguments->end(),
                                    [](const OpArgument& argument) { return argument.is_list(); });
  if (has_list) return not_found("lists of tensors without shapes");
  const bool has_number =
      std::any_of(kernel.arguments->begin(), kernel.arguments->end(),
                  [](const OpArgument& argument) { return bytes_of_type(argument.type).has_value(); });
  if (!has_number) return not_found("how much it writes is not recorded");
  return found(VectorShape{.chain = VectorOp::mul_scalar, .rows = 1, .cols = 1},
               "elementwise: a single number");
}

}  // namespace

bool is_listed_elementwise(std::string_view op) {
  return rule_named(std::span<const ElementwiseRule>(kElementwise), op) != nullptr;
}

/// Inductor names the operator around a launch after the kernel; files of 2024 name the kernel by its types.
bool is_elementwise(const LaunchedKernel& kernel) {
  if (kernel.launcher.starts_with("triton_poi")) return true;
  if (kernel.is_only && is_listed_elementwise(kernel.op)) return true;
  return std::ranges::any_of(kElementwiseKernels, [&](std::string_view word) { return kernel.is_named(word); });
}

/// Tensors of lists: the operator's kernels share them, each with as much.
KernelOperator derive_lists(const LaunchedKernel& kernel) {
  Moved moved;
  const OpArgument* first = nullptr;
  for (const OpArgument& argument : *kernel.arguments) {
    if (!argument.is_list()) continue;
    if (first == nullptr) first = &argument;
    moved.read += 4.0 * static_cast<double>(argument.elements());  // lists have no recorded type: fp32
  }
  const double share = 1.0 / static_cast<double>(kernel.alike);
  const double elements = static_cast<double>(first->elements()) * share;
  if (!(elements >= 1)) return not_found("lists of tensors without shapes");
  if (kernel.op.find("adam") != std::string_view::npos)
    return found(VectorShape{.chain = VectorOp::adam, .rows = 1, .cols = std::llround(std::ceil(elements))},
                 "optimizer: its share of the lists, fp32");
  if (kernel.op.find("sgd") != std::string_view::npos)
    return found(VectorShape{.chain = VectorOp::sgd, .rows = 1, .cols = std::llround(std::ceil(elements))},
                 "optimizer: its share of the lists, fp32");
  moved.read *= share;
  moved.written = kernel.op.starts_with("_foreach_norm") ? 0.0 : 4.0 * elements;
  return operator_that_moves(moved, DType::fp32, VectorOp::mul_scalar, VectorOp::add,
                             "lists: its share of them, fp32");
}

/// One output element for each element of the broadcast shape.
KernelOperator derive_elementwise(const LaunchedKernel& kernel) {
  const ElementwiseRule* const listed = rule_named(std::span<const ElementwiseRule>(kElementwise), kernel.op);
  const ElementwiseRule rule = listed == nullptr ? ElementwiseRule{kernel.op} : *listed;
  const OpArgument* const result = first_tensor(kernel);
  if (result == nullptr || result->is_list()) return derive_single_number(kernel);
  Moved moved;
  for (std::size_t i = rule.first; i < kernel.arguments->size() && i - rule.first < rule.count; ++i)
    moved.read += bytes_of(kernel[i]);
  const bool writes_only = rule.count == 0;
  const double out = writes_only ? static_cast<double>(result->elements())
                                 : broadcast_elements(kernel, rule.first, rule.count);
  const double element =
      is_comparison(kernel.op) ? 1.0 : static_cast<double>(bytes_of_type(result->type).value_or(4));
  moved.written = out * element;
  const bool is_binary = rule.like == VectorOp::add || rule.like == VectorOp::sub ||
                         rule.like == VectorOp::mul || rule.like == VectorOp::div || rule.like == VectorOp::pow;
  return operator_that_moves(
      moved, counted_as(result->type), is_binary || listed == nullptr ? VectorOp::mul_scalar : rule.like,
      is_binary ? rule.like : VectorOp::add, "elementwise: reads its tensors, writes the broadcast one");
}

}}  // namespace c3::traces
