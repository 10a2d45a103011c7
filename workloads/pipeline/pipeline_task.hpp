#pragma once
/// What stages of a pipeline do, and what a schedule of it is made for.

#include <cstdint>

namespace c3 { inline namespace workloads {

/// What a stage does with a micro-batch.
enum class PipelinePass : std::uint8_t {
  forward,
  backward,  ///< gradients of inputs and, unless the schedule splits it, of weights
  weights,   ///< gradients of weights
};

/// One pass of a micro-batch through one chunk of layers.
struct PipelineTask {
  PipelinePass pass = PipelinePass::forward;
  int micro_batch = 0;
  int chunk = 0;             ///< of its stage
  bool with_before = false;  ///< its messages go together with those of the task before it, and both may run in
                             ///< turns

  bool operator==(const PipelineTask&) const = default;
};

/// What a schedule is made for.
struct PipelineShape {
  int stages = 1;
  int micro_batches = 1;
  int chunks = 1;  ///< of a stage
  int group = 0;   ///< of the interleaved schedule: micro-batches that go through a chunk together
  int ahead = 0;   ///< forward passes before the first backward pass, above the fewest
};

}}  // namespace c3::workloads
