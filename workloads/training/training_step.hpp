#pragma once
/// One training step of a transformer on the ranks of a cluster: streams of operations, what hosts launch, and
/// what it needs of memory.

#include <vector>

#include "workloads/experiment.hpp"
#include "workloads/training/setup.hpp"

namespace c3 {

struct TrainingStep {
  /// Every rank's. `compute`; `all_gather` and `reduce_scatter` of sharded parameters, or `gradients` of
  /// buckets; `tensor` of sums over tensor-parallel ranks, `tensor_gather`, `vocabulary` of the embedding and
  /// the loss; `norm` of the gradients' norm. Only those that have work.
  std::vector<StreamSpec> streams;
  HostProgram host;
  StepFacts facts;  ///< but for `peak` and `memory_size`, which are the GPU's
};

/// From the first kernel of the first micro-batch's forward pass until parameters are updated. Tensor-parallel
/// ranks are neighbours, data-parallel ones are `tensor_parallel` apart.
/// \throws std::invalid_argument, naming what does not divide or is not known of the model.
TrainingStep training_step(const TrainingSetup& setup, int ranks);

/// Gives \p experiment the streams, host and facts of its `training`.
void compose_training(Experiment& experiment);

/// Of a matrix product or of attention, whose masked scores do not count; of other operators none.
Flops matrix_flops(const Operator& op);

/// What \p op writes.
Bytes output_bytes(const Operator& op);

}  // namespace c3
