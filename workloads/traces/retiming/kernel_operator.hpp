#pragma once
/// What a kernel of a trace computes: an operator with its shape, or the reason why none is known.

#include <optional>
#include <string>

#include "gpu/kernels/operator.hpp"
#include "workloads/traces/kernel_class.hpp"

namespace c3 { inline namespace traces {

/// What one kernel computes, or why that is not known.
struct KernelOperator {
  std::optional<Operator> op;  ///< on any GPU; absent: not known
  /// `op` is another kernel's, of the same PyTorch operator, whose time includes this one's: it reduces the
  /// parts of a split product, or prepares the backward pass of attention. Where `op` is timed, this takes no
  /// time.
  bool in_another = false;
  WorkClass work = WorkClass::other;  ///< by the kernel's name, and by its operator: a convolution that runs as
                                      ///< a product is one
  std::string note;                   ///< the rule that found it, or why nothing was found
};

}}  // namespace c3::traces
