#include "workloads/traces/benchmark/listed_kernels.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "workloads/traces/retiming/derivation.hpp"

namespace c3 { inline namespace traces {
namespace {

/// Operators of `aten::` that apply one function to each element; sorted.
constexpr auto kElementwise = std::to_array<std::string_view>({
    "abs",
    "add",
    "addcdiv",
    "addcmul",
    "arange",
    "bernoulli",
    "bitwise_and",
    "bitwise_not",
    "bitwise_or",
    "ceil",
    "clamp",
    "clamp_max",
    "clamp_min",
    "copy",
    "cos",
    "div",
    "elu",
    "eq",
    "erf",
    "exp",
    "fill",
    "floor",
    "fmod",
    "ge",
    "gelu",
    "gelu_backward",
    "gt",
    "hardswish",
    "hardtanh",
    "hardtanh_backward",
    "isfinite",
    "isinf",
    "isnan",
    "le",
    "leaky_relu",
    "leaky_relu_backward",
    "lerp",
    "log",
    "log1p",
    "logical_and",
    "logical_not",
    "logical_or",
    "lt",
    "masked_fill",
    "maximum",
    "minimum",
    "mul",
    "nan_to_num",
    "native_dropout",
    "native_dropout_backward",
    "ne",
    "neg",
    "normal",
    "pow",
    "random",
    "reciprocal",
    "relu",
    "remainder",
    "round",
    "rsqrt",
    "rsub",
    "sigmoid",
    "sigmoid_backward",
    "sign",
    "silu",
    "silu_backward",
    "sin",
    "softplus",
    "sqrt",
    "sub",
    "tanh",
    "tanh_backward",
    "threshold_backward",
    "tril",
    "triu",
    "uniform",
    "where",
    "zero",
});

/// Reductions of `aten::` along dimensions or over all; sorted.
constexpr auto kReductions = std::to_array<std::string_view>({
    "all",
    "amax",
    "amin",
    "any",
    "argmax",
    "argmin",
    "linalg_vector_norm",
    "logsumexp",
    "max",
    "mean",
    "min",
    "norm",
    "prod",
    "std",
    "sum",
    "var",
    "var_mean",
});

static_assert(std::ranges::is_sorted(kElementwise) && std::ranges::is_sorted(kReductions));

/// The word that names such kernels, by which rules know them.
std::string_view vector_kernel(std::string_view op) {
  if (op.starts_with("_foreach_") || op.starts_with("_fused_adam") || op.starts_with("_fused_sgd"))
    return "multi_tensor_apply";
  if (std::ranges::binary_search(kReductions, op)) return "reduce_kernel";
  if (std::ranges::binary_search(kElementwise, op)) return "elementwise";
  return telling_word(op).empty() || !row_word(op).empty() ? "" : "elementwise";
}

/// PyTorch lets cuDNN use TF32, and its own products not.
std::string_view convolution_kernel(std::string_view op) {
  return op == "cudnn_convolution" ? "conv_tf32" : "conv";
}

/// Whether the last argument of a backward operator, [input, weight, bias], asks for the gradient at \p place;
/// all are asked for where it is not recorded.
bool is_asked_for(const OpArguments& arguments, std::size_t place) {
  if (arguments.size() == 0) return true;
  std::string_view mask = arguments[arguments.size() - 1].value;
  for (std::size_t i = 0; i < place && !mask.empty(); ++i) {
    const std::size_t comma = mask.find(',');
    mask = comma == std::string_view::npos ? std::string_view() : mask.substr(comma + 1);
  }
  const std::string_view flag = mask.substr(0, mask.find(','));
  return flag.find("False") == std::string_view::npos && flag.find("false") == std::string_view::npos;
}

/// Asks the rules for kernels of one operator.
class Asker {
 public:
  explicit Asker(const ListedOperator& listed)
      : listed_(listed), arguments_(listed.dims, listed.types, listed.concrete), op_(plain_name(listed.name)) {}

  std::vector<KernelOperator> kernels() const {
    switch (listed_.work) {
      case WorkClass::gemm:
        return {ask("gemm")};
      case WorkClass::convolution:
        return convolution();
      case WorkClass::attention:
        return {ask("attention")};
      case WorkClass::vector:
        return vector();
      case WorkClass::copy:
        if (listed_.with_host) return {refused("a copy between the memories of the host and of a GPU")};
        return {ask("elementwise", WorkClass::vector)};
      case WorkClass::memset:
        return {ask("elementwise", WorkClass::vector)};
      case WorkClass::collective:
        return {refused("a collective: its time is the network's")};
      case WorkClass::other:
        break;
    }
    return {refused("an operator of an unknown kind")};
  }

 private:
  KernelOperator ask(std::string_view kernel) const { return ask(kernel, listed_.work); }

  /// \param as the class whose rules are asked; the kernel is of the operator's class
  KernelOperator ask(std::string_view kernel, WorkClass as) const {
    const bool has_arguments = arguments_.size() > 0;
    KernelOperator found = derive({.kernel = kernel,
                                   .work = as,
                                   .op = op_,
                                   .launcher = listed_.name,
                                   .arguments = has_arguments ? &arguments_ : nullptr});
    found.work = listed_.work;
    return found;
  }

  KernelOperator refused(std::string_view reason) const {
    KernelOperator none = not_found(reason);
    none.work = listed_.work;
    return none;
  }

  std::vector<KernelOperator> convolution() const {
    if (op_ != "convolution_backward") return {ask(convolution_kernel(op_))};
    std::vector<KernelOperator> gradients;
    if (is_asked_for(arguments_, 0)) gradients.push_back(ask("dgrad_tf32"));
    if (is_asked_for(arguments_, 1)) gradients.push_back(ask("wgrad_tf32"));
    if (gradients.empty()) return {refused("a convolution's backward operator that makes no gradient")};
    return gradients;
  }

  std::vector<KernelOperator> vector() const {
    const std::string_view rows = row_word(listed_.name);
    const bool has_weights = rows.find("norm") != std::string_view::npos;
    if (has_weights && op_.find("ackward") != std::string_view::npos) return {ask("rows"), ask("gamma_beta")};
    return {ask(vector_kernel(op_))};
  }

  const ListedOperator& listed_;
  OpArguments arguments_;
  std::string_view op_;
};

}  // namespace

std::vector<KernelOperator> kernels_of(const ListedOperator& listed) { return Asker(listed).kernels(); }

}}  // namespace c3::traces
