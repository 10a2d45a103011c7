#pragma once
/// \file
/// What GPU work is: by what a trace says of it, and by the name of its kernel.

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "workloads/traces/trace_event.hpp"

namespace c3 { inline namespace traces {

struct TraceJoin;

enum class WorkClass : std::uint8_t {
  gemm,
  convolution,
  attention,
  vector,  ///< elementwise operators, norms, reductions, embeddings: bound by memory
  collective,
  copy,
  memset,
  other
};

constexpr std::array<std::string_view, 8> kWorkClassNames{"gemm",       "convolution", "attention", "vector",
                                                          "collective", "copy",        "memset",    "other"};

constexpr std::string_view name_of(WorkClass work) { return kWorkClassNames[static_cast<std::size_t>(work)]; }

/// Looks up the table of communication_names.cpp, else words in the names that cuBLAS, cuDNN, CUTLASS, rocBLAS,
/// MIOpen, Triton and PyTorch give their kernels. Wrong when: a library renames its kernels; a fused kernel
/// does two things (it is called by the first one in the table of kernel_class.cpp).
WorkClass work_class(EventKind kind, std::string_view kernel_name);

/// [activities] A collective where the metadata of the kernel or of c10d's operator say so; else by name.
std::vector<WorkClass> work_classes(const Trace& trace, const TraceJoin& join);

}}  // namespace c3::traces
