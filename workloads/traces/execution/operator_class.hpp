#pragma once
/// What an operator of PyTorch does on a GPU.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "workloads/traces/execution/execution_trace.hpp"
#include "workloads/traces/kernel_class.hpp"

namespace c3 { inline namespace traces {

/// The class that the operator's name says. Nothing for operators that launch no kernel of their own: views,
/// allocations, ranges, and what wraps operators of autograd. Operators of `aten::` that are not in the table
/// are vector operators. Wrong when: a custom operator's name says nothing of what it does (other).
std::optional<WorkClass> operator_class(std::string_view name);

/// An operator that does GPU work itself, not in nodes below it.
struct GpuOperator {
  std::uint32_t node = kNoIndex;
  WorkClass work = WorkClass::other;
};

/// The innermost nodes with a class, and those of `aten::` with `_backward` or `_forward` in their name, which
/// launch a kernel and call others; by id. Those with tensors have one on a GPU. Collectives are those that
/// were issued, not waited for. Compiled kernels (triton_), which have no arguments, stand for themselves
/// only where nothing around them has any.
std::vector<GpuOperator> gpu_operators(const ExecutionTrace& trace);

}}  // namespace c3::traces
