#pragma once
/// What a composed training step is.

#include <vector>

#include "workloads/experiment.hpp"

namespace c3::inline workloads {

struct TrainingStep {
  /// Every rank's. `compute`; `all_gather` and `reduce_scatter` of sharded parameters, or `gradients` of
  /// buckets; `tensor` of sums over tensor-parallel ranks, `tensor_gather`, `vocabulary` of the embedding and
  /// the loss; `norm` of the gradients' norm. Only those that have work.
  std::vector<StreamSpec> streams;
  HostProgram host;
  StepFacts facts;  ///< but for `peak` and `memory_size`, which are the GPU's
};

}  // namespace c3::workloads
