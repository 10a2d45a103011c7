#pragma once
/// Optimizers: which passes over the numbers of a unit each makes, and what it keeps beside them. One file
/// each, listed in optimizers/table.cpp.

#include <span>
#include <string_view>

#include "base/table_entry.hpp"
#include "gpu/kernels/vector/vector_shape.hpp"
#include "gpu/timed_kernel.hpp"

namespace c3 { inline namespace workloads {

/// One kernel over all numbers that a rank updates of a unit.
struct OptimizerPass {
  std::string_view name;
  VectorOp op;  ///< with as many tensors read and written
};

/// Kernels in the order of launch. Where `then` has any, `first` ends with norms of each tensor, which
/// ranks that have a part of the tensor each add up before it.
struct OptimizerKernels {
  std::span<const OptimizerPass> first = {};
  std::span<const OptimizerPass> then = {};
};

struct OptimizerEntry {
  std::string_view name;
  int states;              ///< numbers kept for each parameter
  OptimizerKernels fused;  ///< Framework::fused_optimizer: kernels over lists of tensors
  OptimizerKernels loops;  ///< else PyTorch's, one for each arithmetic operation
  bool clips = false;      ///< the first fused kernel divides gradients by their norm, which others have summed
};

extern const OptimizerEntry kAdam;

class Optimizer : public TableEntry<OptimizerEntry> {
 public:
  using TableEntry::TableEntry;

  static const Optimizer adam;
};

inline constexpr Optimizer Optimizer::adam{kAdam};

/// All optimizers that a configuration can name.
extern const std::span<const Optimizer> kOptimizers;

std::string_view name_of(Optimizer optimizer);

/// The optimizer of a step, and where it runs.
struct OptimizerSetup {
  Optimizer kind = Optimizer::adam;
  Place place = Place::gpu;  ///< of its kernels
  HbmSpec hbm = {};          ///< of the GPU

  bool operator==(const OptimizerSetup&) const = default;
};

}}  // namespace c3::workloads
