#pragma once
/// \file
/// Derives a kernel's operator from its facts. The rules are a table in README.md.

#include <optional>
#include <span>
#include <string_view>

#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "gpu/spec.hpp"
#include "workloads/traces/kernel_class.hpp"
#include "workloads/traces/retiming/kernel_operator.hpp"
#include "workloads/traces/retiming/op_arguments.hpp"

namespace c3 { inline namespace traces {

/// A kernel, and the innermost operator around its launch whose arguments are recorded.
struct LaunchedKernel {
  std::string_view kernel;  ///< its name, in small letters
  WorkClass work = WorkClass::other;
  std::string_view op;        ///< without its namespace and the underscore of "in place": "mm", "add"
  std::string_view launcher;  ///< the innermost operator around the launch, which may have no shapes
  const OpArguments* arguments = nullptr;
  /// Kernels of the same class that this very call of the operator launched, helpers left out.
  std::size_t alike = 1;
  bool is_only = false;  ///< the call of the operator launched no other kernel, helpers left out

  const OpArgument& operator[](std::size_t index) const { return (*arguments)[index]; }
  bool is_named(std::string_view word) const { return kernel.find(word) != std::string_view::npos; }
};

/// Whether a kernel of this name, in small letters, only adds the parts of a product, or prepares or converts
/// what another kernel of the same operator computes.
bool is_helper(std::string_view kernel_name);

/// "mm" of "aten::mm", "add" of "aten::add_".
std::string_view plain_name(std::string_view op);

/// The operator of \p kernel, or why there is none.
KernelOperator derive(const LaunchedKernel& kernel);

// Each covers one class of kernels.
KernelOperator derive_product(const LaunchedKernel& kernel);
KernelOperator derive_convolution(const LaunchedKernel& kernel);
KernelOperator derive_attention(const LaunchedKernel& kernel);
KernelOperator derive_vector(const LaunchedKernel& kernel);
/// The class of kernels that compute \p operators: the one with its name; else by whether it multiplies.
WorkClass work_class(const OperatorClass& operators);
/// Derives an operator of namespace `c3sim`, whose arguments are the words of a table of kernels.
KernelOperator derive_written(const LaunchedKernel& kernel);

// Kernels without a product: those that apply one function to each element, and to lists of tensors.
bool is_elementwise(const LaunchedKernel& kernel);
KernelOperator derive_elementwise(const LaunchedKernel& kernel);
KernelOperator derive_lists(const LaunchedKernel& kernel);

/// Whether \p op is one that derive_product, .. has a rule for.
bool is_product(std::string_view op);
bool is_convolution(std::string_view op);
bool is_attention(std::string_view op);
bool is_listed_elementwise(std::string_view op);
bool goes_along_rows(std::string_view op);

/// The word in a vector operator's name that says what it does, whatever library it is of: that of row_word,
/// "gelu" or "dropout"; else empty.
std::string_view telling_word(std::string_view op);

/// The word in an operator's name that says that it goes along rows: "softmax", "layer_norm", ..; else empty.
std::string_view row_word(std::string_view op);

/// Elements of the largest tensor that is believed: 1 PB of bytes, beyond any GPU. Sizes of what is
/// derived from smaller ones fit 64 bits.
inline constexpr std::int64_t kMostElements = std::int64_t{1} << 50;

// Results.
KernelOperator found(Operator op, std::string_view rule);
/// Not found where an extent is below 1, or there are more multiplications than fit 64 bits. fp32 factors on
/// matrix units are TF32: a product of 16 bits with twice the k, of as many operand bytes and matrix cycles.
KernelOperator found_product(const LaunchedKernel& kernel, GemmShape shape, std::string_view rule);
KernelOperator not_found(std::string_view reason);
/// Result for a kernel in whose place another one has an operator: KernelOperators finds it.
KernelOperator part_of_another(std::string_view rule);

/// Nothing for types that the model of kernels does not know: fp64, integers.
std::optional<DType> dtype_of(std::string_view type);

/// Bytes of one element of any type; nothing for what is not a tensor's type.
std::optional<std::int64_t> bytes_of_type(std::string_view type);

/// The rule of \p rules for \p op, or nullptr.
template <class Rule>
const Rule* rule_named(std::span<const Rule> rules, std::string_view op) {
  for (const Rule& rule : rules) {
    if (rule.op == op) return &rule;
  }
  return nullptr;
}

}}  // namespace c3::traces
