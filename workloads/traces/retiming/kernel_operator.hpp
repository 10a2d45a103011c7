#pragma once
/// What a kernel of a trace computes: an operator with its shape, or the reason why none is known.

#include <optional>
#include <string>

#include "gpu/kernels/operator.hpp"
#include "workloads/traces/kernel_class.hpp"

namespace c3::inline traces {

/// What one kernel computes. Exactly one of three: `op`, `in_another`, or neither and a reason.
struct KernelOperator {
  std::optional<Operator> op;  ///< of this kernel alone, on any GPU
  /// The time of an operator that another kernel of the same launch carries includes this one's: it reduces the
  /// parts of a split product, or prepares the backward pass of attention. It takes no time of its own.
  bool in_another = false;
  WorkClass work = WorkClass::other;  ///< by the kernel's name, and by its operator: a convolution that runs as
                                      ///< a product is one
  std::string note;                   ///< the rule that found it, or why nothing was found
};

}  // namespace c3::traces
