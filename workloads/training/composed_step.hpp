#pragma once
/// What a composed training step is.

#include "workloads/program/program.hpp"
#include "workloads/training/step_facts.hpp"

namespace c3::inline workloads {

struct TrainingStep {
  /// One script, with a host. Streams: `compute`; `all_gather` and `reduce_scatter` of sharded parameters, or
  /// `gradients` of buckets; `tensor` of sums over tensor-parallel ranks, `tensor_gather`, `vocabulary` of the
  /// embedding and the loss; `norm` of the gradients' norm. Only those that have work.
  Program program;
  StepFacts facts;  ///< but for `peak` and `memory_size`, which are the GPU's
};

}  // namespace c3::workloads
