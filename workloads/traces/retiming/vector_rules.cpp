/// Kernels without a product: they move the bytes of their operator's tensors.

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "base/small_letters.hpp"
#include "workloads/traces/retiming/moved_bytes.hpp"

namespace c3 { inline namespace traces {
namespace {

/// Names of row-wise operators, whatever library their kernel is from.
struct RowRule {
  std::string_view word;  ///< in the operator's name, in small letters
  VectorOp op;
};
constexpr std::array kRows{RowRule{"softmax", VectorOp::softmax}, RowRule{"rmsnorm", VectorOp::rmsnorm},
                           RowRule{"rms_norm", VectorOp::rmsnorm}, RowRule{"layernorm", VectorOp::layernorm},
                           RowRule{"layer_norm", VectorOp::layernorm}};

/// Nullptr for an operator that is not row-wise.
const RowRule* row_rule(std::string_view op) {
  const std::string lower = in_small_letters(op);
  const auto* const rule = std::ranges::find_if(
      kRows, [&](const RowRule& row) { return lower.find(row.word) != std::string::npos; });
  return rule == kRows.end() ? nullptr : rule;
}

/// Columns of a row-wise operator: the dimension that it names, else that of its weights, else the last one.
std::int64_t columns_of(const LaunchedKernel& kernel, const Dims& dims, bool is_softmax) {
  if (is_softmax) {
    for (const OpArgument& argument : *kernel.arguments) {
      const std::vector<std::int64_t> dim = whole_numbers(argument.value);
      if (argument.type != "Scalar" || dim.size() != 1) continue;
      const std::int64_t place = dim.front() < 0 ? dim.front() + std::ssize(dims) : dim.front();
      return place >= 0 && place < std::ssize(dims) ? dims[static_cast<std::size_t>(place)] : dims.back();
    }
    return dims.back();
  }
  for (std::size_t i = 1; i < kernel.arguments->size(); ++i) {
    const std::vector<std::int64_t> normalised = whole_numbers(kernel[i].value);
    if (kernel[i].type == "ScalarList" && !normalised.empty()) return elements(normalised);
  }
  return dims.back();
}

KernelOperator derive_rows(const LaunchedKernel& kernel, VectorOp op) {
  const OpArgument* const tensor = first_tensor(kernel);
  if (tensor == nullptr || tensor->is_list()) return not_found("a row-wise operator without a tensor");
  const Dims& dims = tensor->tensors.front();
  const std::optional<DType> dtype = dtype_of(tensor->type);
  if (!dtype || *dtype == DType::fp8) return not_found("a row-wise operator in a type without a rate");
  VectorShape shape;
  shape.chain = op;
  shape.cols = columns_of(kernel, dims, op == VectorOp::softmax);
  shape.rows = tensor->elements() / std::max<std::int64_t>(shape.cols, 1);
  shape.dtype = *dtype;
  shape.is_eager = has_eager_kernel(op) && kernel.launcher.starts_with("aten::");
  if (shape.cols < 1 || shape.rows < 1) return not_found("a row-wise operator on an empty tensor");
  const bool is_backward = kernel.op.find("ackward") != std::string_view::npos;
  if (!is_backward) return found(shape, "rows: the dimension that it goes along");
  if (kernel.is_named("gamma") || kernel.is_named("beta")) {
    // Gradients of weights: column sums of the gradient, and of its product with the input.
    const Moved moved{.read = 2.0 * bytes_of(*tensor), .written = 0.0};
    return operator_that_moves(moved, *dtype, VectorOp::copy, VectorOp::add,
                               "rows, gradients of weights: two tensors read");
  }
  shape.pass = Pass::backward;
  return found(shape, "rows, backward");
}

/// Along the dimensions that a value names; all of them without one.
KernelOperator derive_reduction(const LaunchedKernel& kernel) {
  const OpArgument* const tensor = first_tensor(kernel);
  if (tensor == nullptr || tensor->is_list()) return not_found("a reduction without a tensor");
  const Dims& dims = tensor->tensors.front();
  std::int64_t cols = 1;
  bool has_dimension = false;
  for (const std::int64_t dim : whole_numbers(kernel[1].value)) {
    const std::int64_t place = dim < 0 ? dim + std::ssize(dims) : dim;
    if (place < 0 || place >= std::ssize(dims))
      return not_found("a reduction along no dimension of its tensor");
    cols *= dims[static_cast<std::size_t>(place)];
    if (cols > tensor->elements()) return not_found("a reduction that names a dimension twice");
    has_dimension = true;
  }
  if (!has_dimension) cols = tensor->elements();
  const std::int64_t rows = tensor->elements() / std::max<std::int64_t>(cols, 1);
  const auto bytes = bytes_of_type(tensor->type).value_or(4);
  const DType dtype = counted_as(tensor->type);
  const double scale = static_cast<double>(bytes) / element_size(dtype).value;
  VectorShape shape{.chain = VectorOp::reduce, .rows = rows, .cols = cols, .dtype = dtype};
  shape.cols = std::llround(std::ceil(static_cast<double>(cols) * scale));
  if (shape.rows < 1 || shape.cols < 1) return not_found("a reduction of an empty tensor");
  return found(shape, "reduction");
}

/// Moves as many rows of a table as there are indices.
KernelOperator derive_table(const LaunchedKernel& kernel) {
  const bool is_backward = kernel.op == "embedding_dense_backward";
  const OpArgument& table = kernel[0];
  const OpArgument& index = kernel[kernel.op == "index_select" ? 2 : 1];
  if (!table.is_tensor() || index.elements() == 0 || index.is_list())
    return not_found("a table without the shape of its indices");
  VectorShape shape{.chain = VectorOp::embedding,
                    .rows = index.elements(),
                    .cols = table.tensors.front().back(),
                    .dtype = counted_as(table.type),
                    .pass = is_backward ? Pass::backward : Pass::forward};
  if (table.tensors.front().size() != 2 && !is_backward)
    return not_found("a table with more than two dimensions");
  if (elements({shape.rows, shape.cols}) >= kMostElements) return not_found("a tensor larger than any GPU");
  return found(shape, "table: a row for each index");
}

/// Every tensor of the list once in and once out.
KernelOperator derive_concatenation(const LaunchedKernel& kernel) {
  const double elements = static_cast<double>(kernel[0].elements()) / static_cast<double>(kernel.alike);
  if (!(elements >= 1)) return not_found("a concatenation without shapes");
  const DType dtype = kernel.is_named("opaquetype<2") ? DType::bf16 : DType::fp32;
  return found(
      VectorShape{
          .chain = VectorOp::copy, .rows = 1, .cols = std::llround(std::ceil(elements)), .dtype = dtype},
      "concatenation: a copy of all its tensors");
}

/// Derives only those kernels of batch norm that go through the tensor element by element. The others give each
/// channel one work group, of which few fill a GPU: no class of the kernel model has such a grid.
KernelOperator derive_batch_norm(const LaunchedKernel& kernel) {
  const OpArgument* const tensor = first_tensor(kernel);
  const bool applies = kernel.is_named("transform_input");
  const bool goes_back = kernel.is_named("backward_elemt");
  if (tensor == nullptr || (!applies && !goes_back))
    return not_found("batch norm with a work group for each channel: no class of the kernel model has that");
  const double bytes = bytes_of(*tensor);
  return operator_that_moves({.read = (goes_back ? 2.0 : 1.0) * bytes, .written = bytes},
                             counted_as(tensor->type), VectorOp::mul_scalar, VectorOp::add,
                             "batch norm: elementwise");
}

}  // namespace

std::string_view row_word(std::string_view op) {
  const RowRule* const rule = row_rule(op);
  return rule == nullptr ? std::string_view() : rule->word;
}

std::string_view telling_word(std::string_view op) {
  if (const std::string_view rows = row_word(op); !rows.empty()) return rows;
  const std::string lower = in_small_letters(op);
  for (const std::string_view word : {"gelu", "dropout"}) {
    if (lower.find(word) != std::string::npos) return word;
  }
  return {};
}
bool goes_along_rows(std::string_view op) { return row_rule(op) != nullptr; }

KernelOperator derive_vector(const LaunchedKernel& kernel) {
  if (kernel.op.find("batch_norm") != std::string_view::npos && !is_elementwise(kernel))
    return derive_batch_norm(kernel);
  if (kernel.op == "embedding" || kernel.op == "index_select" || kernel.op == "embedding_dense_backward")
    return derive_table(kernel);
  if (kernel.op == "cat") return derive_concatenation(kernel);
  if (kernel.op == "index" || kernel.is_named("index_elementwise"))
    return not_found("indexing: how much it reads is not recorded");
  if (kernel.is_named("multi_tensor_apply")) {
    const bool has_lists = std::ranges::any_of(*kernel.arguments, &OpArgument::is_list);
    return has_lists ? derive_lists(kernel) : not_found("lists of tensors without shapes");
  }
  if (is_elementwise(kernel)) {
    return is_product(kernel.op) || is_convolution(kernel.op)
               ? not_found("an elementwise kernel inside a product or a convolution")
               : derive_elementwise(kernel);
  }
  if (const RowRule* const rule = row_rule(kernel.op)) return derive_rows(kernel, rule->op);
  if (kernel.is_named("reduce_kernel")) return derive_reduction(kernel);
  return not_found("no rule for this kernel");
}

}}  // namespace c3::traces
