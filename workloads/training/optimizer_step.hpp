#pragma once
/// What follows the last backward pass: norm and clipping of gradients, the optimizer, copies of parameters.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "gpu/kernels/vector/vector_shape.hpp"
#include "workloads/training/data_parallel.hpp"
#include "workloads/training/optimizers/optimizer.hpp"
#include "workloads/training/rank_grid.hpp"

namespace c3 { inline namespace workloads {

/// Optimizers in mixed precision (`Framework::master_copy`) go through gradients and parameters several times:
/// gradients are copied to fp32, unscaled and searched for infinities where the host reads whether there are
/// any (`Framework::syncs`), summed up for their norm and scaled by it; the optimizer updates fp32 parameters,
/// which are copied to those that layers compute with. Source: NVIDIA/Megatron-LM,
/// megatron/core/optimizer/optimizer.py, MixedPrecisionOptimizer, and clip_grads.py;
/// deepspeed/runtime/fp16/fused_optimizer.py does as much. Which kernels update them is the optimizer's matter
/// (optimizers/). With OptimizerSetup::place pim all of these kernels run inside the memory (gpu/pim.hpp). With
/// OffloadSetup::optimizer the host updates a share of each unit beside the GPU, as fast as its memory carries
/// what the same passes read and write (Megatron-Core, HybridDeviceOptimizer): gradients go there, and
/// parameters come back in the type that the GPU holds. Before its first kernel the host goes through all
/// tensors in Python
/// (`Host::optimizer`), as recorded steps do. Wrong when: kernels over lists of tensors are cut where a list is
/// too long for one launch; a rank's share is whole tensors, which are fewer (Megatron-Core's distributed
/// optimizer); experts have replicas of their own, whose tensors' norms are summed like the others'.
class OptimizerStep {
 public:
  /// \param units numbers of those of which this rank has parameters. All references must outlive it.
  OptimizerStep(const TrainingSetup& setup, const RankGrid& grid, std::vector<std::size_t> units,
                DataParallel& data_parallel, StepProgram& program);
  void write();

 private:
  void unscale();
  void sum_squares();
  void scale();
  void list_tensors();
  void update();
  void run(std::span<const OptimizerPass> passes, std::size_t unit);
  /// Sums the norms of tensors that are divided among ranks, over those ranks.
  void sum_norms_of_tensors();
  void copy_parameters(std::size_t unit);
  /// How many numbers of \p unit the host updates, and how many the GPU.
  std::int64_t of_host(std::size_t unit) const;
  std::int64_t of_gpu(std::size_t unit) const { return data_parallel_.updated(unit) - of_host(unit); }
  /// Gradients to the host, the update in its memory and parameters back: of each unit after that of the one
  /// before, all three at once.
  void update_on_host();
  /// Runs a kernel on the GPU or in its memory.
  void kernel(const std::string& name, const VectorShape& shape);
  /// Weights that are kept in a recipe's type: their scales, on which all ranks agree, and their casts.
  void cast_weights();
  /// \p op on the gradients of \p unit that this rank updates.
  VectorShape of_gradients(VectorOp op, std::size_t unit) const;
  /// \p share of the numbers of \p unit, in the computing type and in fp32, one read and the other written.
  VectorShape cast(std::size_t unit, double share = 1.0) const;
  DType gradient_dtype() const;  ///< of those that are clipped
  std::int64_t tensors() const;  ///< that this rank updates, or a share of each

  const TrainingSetup& setup_;
  const RankGrid& grid_;
  std::vector<std::size_t> units_;
  DataParallel& data_parallel_;
  StepProgram& program_;
  StepProgram::Stream compute_;
};

}}  // namespace c3::workloads
