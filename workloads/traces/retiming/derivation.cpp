#include "workloads/traces/retiming/derivation.hpp"

#include <algorithm>

#include "gpu/kernels/operator_table.hpp"

namespace c3 { inline namespace traces {
namespace {

struct TypeBytes {
  std::string_view type;  ///< without "c10::"
  std::int64_t bytes;
};

constexpr std::array kTypes{
    TypeBytes{"float", 4},
    TypeBytes{"BFloat16", 2},
    TypeBytes{"Half", 2},
    TypeBytes{"double", 8},
    TypeBytes{"long int", 8},
    TypeBytes{"long", 8},
    TypeBytes{"int", 4},
    TypeBytes{"short", 2},
    TypeBytes{"short int", 2},
    TypeBytes{"signed char", 1},
    TypeBytes{"unsigned char", 1},
    TypeBytes{"bool", 1},
    TypeBytes{"Float8_e4m3fn", 1},
    TypeBytes{"Float8_e5m2", 1},
    TypeBytes{"Float8_e4m3fnuz", 1},
    TypeBytes{"Float8_e5m2fnuz", 1},
    TypeBytes{"complex<float>", 8},
    TypeBytes{"complex<double>", 16},
};

/// Helper kernels of split products (cuBLAS, hipBLASLt) and of flash attention's backward pass.
constexpr std::array<std::string_view, 7> kHelpers{"splitkreduce", "splitk_reduce", "postgsu",       "dot_do_o",
                                                   "convert_dq",   "preprocess",    "combine_kernel"};

/// TensorFloat-32, on matrix units: NVIDIA's libraries write it or the instruction's shape into the name.
bool is_tf32(const LaunchedKernel& kernel) {
  return kernel.is_named("tf32") || kernel.is_named("s1688") || kernel.is_named("s16816") ||
         kernel.is_named("tensorop");
}

std::string_view without_namespace(std::string_view type) {
  constexpr std::string_view kC10 = "c10::";
  return type.starts_with(kC10) ? type.substr(kC10.size()) : type;
}

}  // namespace

bool is_helper(std::string_view kernel_name) {
  return std::ranges::any_of(
      kHelpers, [&](std::string_view word) { return kernel_name.find(word) != std::string_view::npos; });
}

std::string_view plain_name(std::string_view op) {
  if (const std::size_t end = op.rfind("::"); end != std::string_view::npos) op.remove_prefix(end + 2);
  if (op.ends_with('_') && !op.ends_with("__")) op.remove_suffix(1);
  return op;
}

KernelOperator found(Operator op, std::string_view rule) {
  return {.op = std::move(op), .in_another = false, .work = {}, .note = std::string(rule)};
}

KernelOperator found_product(const LaunchedKernel& kernel, GemmShape shape, std::string_view rule) {
  constexpr std::int64_t kMostMultiplications = std::int64_t{1} << 58;
  const bool is_possible = std::min({shape.m, shape.n, shape.k, shape.batch}) > 0 &&
                           elements({shape.batch, shape.m, shape.n, shape.k}) < kMostMultiplications;
  if (!is_possible) return not_found("a product of no size that a GPU could do");
  if (shape.dtype != DType::fp32 || !is_tf32(kernel)) return found(shape, rule);
  shape.dtype = DType::bf16;
  shape.k *= 2;
  return found(shape, std::string(rule) + ", in TF32: as 16 bits with twice the k");
}

KernelOperator not_found(std::string_view reason) {
  return {.op = std::nullopt, .in_another = false, .work = {}, .note = std::string(reason)};
}

KernelOperator part_of_another(std::string_view rule) {
  return {.op = std::nullopt, .in_another = true, .work = {}, .note = std::string(rule)};
}

std::optional<DType> dtype_of(std::string_view type) {
  type = without_namespace(type);
  if (type == "BFloat16") return DType::bf16;
  if (type == "Half") return DType::fp16;
  if (type == "float") return DType::fp32;
  if (type.starts_with("Float8")) return DType::fp8;
  return std::nullopt;
}

std::optional<std::int64_t> bytes_of_type(std::string_view type) {
  const auto* const rule = std::ranges::find(kTypes, without_namespace(type), &TypeBytes::type);
  return rule == kTypes.end() ? std::nullopt : std::optional(rule->bytes);
}

namespace {

KernelOperator derived(const LaunchedKernel& kernel) {
  switch (kernel.work) {
    case WorkClass::collective:
      return not_found("a collective: its time is the network's");
    case WorkClass::copy:
      return not_found("a copy: its bytes are not read from the trace");
    case WorkClass::memset:
      return not_found("a memset: its bytes are not read from the trace");
    default:
      break;
  }
  if (kernel.arguments == nullptr) return not_found("no operator with recorded arguments around its launch");
  const bool is_huge =
      std::any_of(kernel.arguments->begin(), kernel.arguments->end(),
                  [](const OpArgument& argument) { return argument.elements() >= kMostElements; });
  if (is_huge) return not_found("a tensor larger than any GPU");
  if (is_attention(kernel.op)) return derive_attention(kernel);
  if (is_convolution(kernel.op)) return derive_convolution(kernel);
  if (kernel.work == WorkClass::gemm) {
    return is_product(kernel.op) ? derive_product(kernel)
                                 : not_found("a product in an operator whose shapes have no rule");
  }
  if (kernel.work == WorkClass::attention) return not_found("attention in an operator without a rule");
  if (kernel.work == WorkClass::convolution) return not_found("a convolution in an operator without a rule");
  return derive_vector(kernel);
}

/// Kernels of libraries have C++'s or Triton's names.
bool has_library_name(const LaunchedKernel& kernel) {
  constexpr std::array<std::string_view, 4> kWords{"::", "<", "kernel", "triton"};
  return std::ranges::any_of(kWords, [&](std::string_view word) { return kernel.is_named(word); });
}

/// The class of a kernel whose name does not say it follows from its operator, if that launched nothing else.
WorkClass class_by_operator(const LaunchedKernel& kernel) {
  const bool is_kernel = kernel.work != WorkClass::collective && kernel.work != WorkClass::copy &&
                         kernel.work != WorkClass::memset;
  const bool says_it = kernel.work != WorkClass::other && has_library_name(kernel);
  if (!kernel.is_only || !is_kernel || says_it || is_helper(kernel.kernel)) return kernel.work;
  if (is_product(kernel.op)) return WorkClass::gemm;
  if (is_attention(kernel.op)) return WorkClass::attention;
  return is_listed_elementwise(kernel.op) || goes_along_rows(kernel.op) ? WorkClass::vector : kernel.work;
}

/// A convolution's product has the name of a product.
WorkClass class_of(const LaunchedKernel& kernel) {
  const bool is_product_of_convolution = kernel.work == WorkClass::gemm && is_convolution(kernel.op);
  return is_product_of_convolution ? WorkClass::convolution : kernel.work;
}

}  // namespace

WorkClass work_class(const OperatorClass& operators) {
  const auto* const found = std::ranges::find(kWorkClassNames, operators.name);
  if (found != kWorkClassNames.end()) return static_cast<WorkClass>(found - kWorkClassNames.begin());
  return operators.has_product() ? WorkClass::gemm : WorkClass::vector;
}

KernelOperator derive_written(const LaunchedKernel& kernel) {
  ShapeWords words;
  for (const OpArgument& argument : *kernel.arguments) {
    const std::string_view text = argument.value;
    const std::size_t end = std::min(text.find('='), text.size());
    const auto* const key = std::ranges::find(kShapeKeys, text.substr(0, end));
    if (end == text.size() || key == kShapeKeys.end())
      return not_found("an operator of c3sim with an argument that tables of kernels do not have");
    words[static_cast<ShapeKey>(key - kShapeKeys.begin())] = text.substr(end + 1);
  }
  try {
    KernelOperator result = found(operator_of(words), "as c3sim wrote it");
    result.work = work_class(result.op->of_class());
    return result;
  } catch (const ShapeError& error) {
    return not_found(std::string("an operator of c3sim: ") + error.what());
  }
}

KernelOperator derive(const LaunchedKernel& kernel) {
  if (kernel.launcher.starts_with("c3sim::") && kernel.arguments != nullptr) return derive_written(kernel);
  LaunchedKernel judged = kernel;
  judged.work = class_by_operator(kernel);
  KernelOperator found = derived(judged);
  found.work = class_of(judged);
  return found;
}

}}  // namespace c3::traces
