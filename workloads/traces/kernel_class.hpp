#pragma once
/// What GPU work is, by the name of its kernel.

#include <array>
#include <cstdint>
#include <string_view>

#include "workloads/traces/trace_event.hpp"

namespace c3::inline traces {

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

/// By words in the names that cuBLAS, cuDNN, CUTLASS, rocBLAS, MIOpen, Triton, PyTorch and NCCL give their
/// kernels. Wrong when: a library renames its kernels; a fused kernel does two things (it is called by the
/// first one in the table of kernel_class.cpp).
WorkClass work_class(EventKind kind, std::string_view kernel_name);

}  // namespace c3::traces
