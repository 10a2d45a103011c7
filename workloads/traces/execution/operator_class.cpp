#include "workloads/traces/execution/operator_class.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace c3 { inline namespace traces {
namespace {

/// Operators of `aten::` that make views, allocate, or call others; sorted.
constexpr std::array<std::string_view, 64> kWithoutKernel{"_local_scalar_dense",
                                                          "_reshape_alias",
                                                          "_unsafe_view",
                                                          "_version",
                                                          "alias",
                                                          "as_strided",
                                                          "broadcast_tensors",
                                                          "can_cast",
                                                          "chunk",
                                                          "contiguous",
                                                          "data",
                                                          "detach",
                                                          "detach_",
                                                          "empty",
                                                          "empty_like",
                                                          "empty_strided",
                                                          "expand",
                                                          "expand_as",
                                                          "flatten",
                                                          "has_compatible_shallow_copy_type",
                                                          "is_complex",
                                                          "is_floating_point",
                                                          "is_nonzero",
                                                          "item",
                                                          "lift_fresh",
                                                          "movedim",
                                                          "narrow",
                                                          "new_empty",
                                                          "new_empty_strided",
                                                          "numpy_T",
                                                          "permute",
                                                          "pin_memory",
                                                          "promote_types",
                                                          "record_stream",
                                                          "refine_names",
                                                          "rename",
                                                          "requires_grad_",
                                                          "reshape",
                                                          "reshape_as",
                                                          "resize_",
                                                          "resize_as_",
                                                          "result_type",
                                                          "retain_grad",
                                                          "select",
                                                          "set_",
                                                          "set_data",
                                                          "size",
                                                          "slice",
                                                          "split",
                                                          "split_with_sizes",
                                                          "squeeze",
                                                          "squeeze_",
                                                          "stride",
                                                          "swapaxes",
                                                          "t",
                                                          "t_",
                                                          "transpose",
                                                          "transpose_",
                                                          "unbind",
                                                          "unflatten",
                                                          "unflatten_dense_tensors",
                                                          "unfold",
                                                          "unsqueeze",
                                                          "view"};

/// Operators of `aten::` that multiply matrices; sorted.
constexpr std::array<std::string_view, 24> kGemms{"_addmm_activation",
                                                  "_grouped_mm",
                                                  "_int_mm",
                                                  "_scaled_grouped_mm",
                                                  "_scaled_mm",
                                                  "addbmm",
                                                  "addmm",
                                                  "addmm_",
                                                  "addmv",
                                                  "addr",
                                                  "baddbmm",
                                                  "baddbmm_",
                                                  "bilinear",
                                                  "bmm",
                                                  "chain_matmul",
                                                  "dot",
                                                  "einsum",
                                                  "ger",
                                                  "inner",
                                                  "linear",
                                                  "matmul",
                                                  "mm",
                                                  "mv",
                                                  "vdot"};

static_assert(std::ranges::is_sorted(kWithoutKernel) && std::ranges::is_sorted(kGemms));

std::optional<WorkClass> aten_class(std::string_view name) {
  const std::string_view base = name.substr(0, name.find('.'));
  if (std::ranges::binary_search(kWithoutKernel, base) || base.starts_with("view_") ||
      base.starts_with("empty_") || base.ends_with("_view"))
    return std::nullopt;
  if (std::ranges::binary_search(kGemms, base)) return WorkClass::gemm;
  const auto has = [&](std::string_view word) { return base.find(word) != std::string_view::npos; };
  if (has("attention") || has("flash")) return WorkClass::attention;
  if (has("conv")) return WorkClass::convolution;
  if (base == "copy_" || base == "_to_copy" || base == "to") return WorkClass::copy;
  if (base == "zero_" || base == "zeros" || base == "zeros_like") return WorkClass::memset;
  return WorkClass::vector;
}

}  // namespace

std::optional<WorkClass> operator_class(std::string_view name) {
  constexpr std::string_view kAten = "aten::";
  if (name == "record_param_comms") return WorkClass::collective;
  if (name.starts_with(kAten)) return aten_class(name.substr(kAten.size()));
  for (const std::string_view around :
       {"autograd::", "torch::autograd::", "c10d::", "nccl:", "gloo:", "profiler::", "Optimizer.",
        "ProfilerStep", "enumerate(", "[pytorch|", "##"}) {
    if (name.starts_with(around)) return std::nullopt;
  }
  // What is left are functions of autograd in Python, custom operators and compiled kernels.
  const WorkClass work = work_class(EventKind::kernel, name);
  if (work != WorkClass::other && work != WorkClass::collective) return work;
  return name.find("::") != std::string_view::npos ? std::optional(WorkClass::other) : std::nullopt;
}

namespace {

bool is_on_gpu(const ExecutionTrace& trace, const ExecutionArguments& side) {
  for (std::uint32_t i = 0; i < side.tensors; ++i) {
    const std::string& device = trace.texts.text(trace.tensors[side.first_tensor + i].device);
    if (device.starts_with("cuda") || device.starts_with("hip") || device.starts_with("xpu")) return true;
  }
  return false;
}

bool can_be_on_gpu(const ExecutionTrace& trace, const ExecutionNode& node) {
  if (node.inputs.tensors + node.outputs.tensors == 0) return !trace.texts.text(node.schema).empty();
  return is_on_gpu(trace, node.inputs) || is_on_gpu(trace, node.outputs);
}

/// Operators that launch a kernel and call others as well, such as to clear its output: nll_loss_backward,
/// _softmax_backward_data, nll_loss_forward.
bool has_own_kernel(const std::string& name) {
  for (const std::string_view only_calls : {"aten::linear", "aten::matmul", "aten::_scaled_dot_product"}) {
    if (name.starts_with(only_calls)) return false;
  }
  if (!name.starts_with("aten::")) return false;
  return name.find("_backward") != std::string::npos || name.ends_with("_forward");
}

/// A compiled kernel, which has no arguments in a trace, and none around it that has.
bool is_compiled_alone(const ExecutionTrace& trace, std::uint32_t node,
                       const std::vector<std::optional<WorkClass>>& classes) {
  if (!trace.name_of(trace.nodes[node]).starts_with("triton_") || classes[node]) return false;
  std::uint32_t at = trace.parents[node];
  while (at != kNoIndex && !classes[at])
    at = trace.parents[at];
  return at == kNoIndex;
}

}  // namespace

std::vector<GpuOperator> gpu_operators(const ExecutionTrace& trace) {
  std::vector<std::optional<WorkClass>> classes(trace.nodes.size());
  std::vector<bool> is_around(trace.nodes.size(), false);  // a node with a class is below it
  for (std::uint32_t i = 0; i < trace.nodes.size(); ++i) {
    const ExecutionNode& node = trace.nodes[i];
    if (node.gpu_work != kNoIndex) continue;
    const bool is_collective = node.collective != kNoIndex;
    if (is_collective ? trace.collectives[node.collective].is_wait : !can_be_on_gpu(trace, node)) continue;
    classes[i] = is_collective ? WorkClass::collective : operator_class(trace.name_of(node));
    if (!classes[i]) continue;
    for (std::uint32_t at = trace.parents[i]; at != kNoIndex && !is_around[at]; at = trace.parents[at])
      is_around[at] = true;
  }
  std::vector<GpuOperator> operators;
  for (std::uint32_t i = 0; i < trace.nodes.size(); ++i) {
    const bool is_listed = classes[i] && (!is_around[i] || has_own_kernel(trace.name_of(trace.nodes[i])));
    if (is_listed || is_compiled_alone(trace, i, classes))
      operators.push_back({.node = i, .work = classes[i].value_or(WorkClass::vector)});
  }
  return operators;
}

}}  // namespace c3::traces
