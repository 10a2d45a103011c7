#pragma once
/// How a training step is divided into pipeline stages.

#include <cstdint>
#include <string>
#include <vector>

#include "base/enum_names.hpp"
#include "workloads/pipeline/schedule.hpp"

namespace c3 { inline namespace workloads {

/// How stages send activations and their gradients to each other.
enum class PipelineMessages : std::uint8_t {
  batched,     ///< what a pass sends and the next one receives are one launch, for which the next pass waits
  overlapped,  ///< each by itself, beside kernels; a receive is launched before the pass before the one it is
               ///< for
  steady,      ///< the same where forward and backward passes take turns; in warm-up and flush a pass waits for
               ///< what the one before it sends
};
constexpr auto enum_names(PipelineMessages) {
  return std::to_array<EnumName<PipelineMessages>>({{"batched", PipelineMessages::batched},
                                                    {"overlapped", PipelineMessages::overlapped},
                                                    {"steady", PipelineMessages::steady}});
}

/// Stages are the slowest dimension of the grid of ranks: stage k of p is ranks k N / p to (k + 1) N / p - 1.
struct PipelineSetup {
  int stages = 1;
  int virtual_stages = 1;  ///< chunks of layers that a stage has
  ScheduleKind schedule = ScheduleKind::one_f_one_b;
  int group = 0;  ///< micro-batches that go through a chunk together when interleaved; 0: as many as stages
  PipelineMessages messages = PipelineMessages::batched;
  bool scatter_gather = false;  ///< each tensor-parallel rank sends its part of what all have; all gather it
  std::int64_t deferred_head_gradients = 0;  ///< micro-batches whose gradients of the head's weights are made
                                             ///< after the stage's last pass
  std::int64_t first_layers = 0, last_layers = 0;  ///< of the first and the last stage; 0: as the others
  bool embedding_in_split = false;                 ///< it counts as a layer when layers are divided
  bool loss_in_split = false;                      ///< likewise, with the head
  std::string layout = {};                         ///< layers of each virtual stage written out; empty: divided
  std::vector<std::string> table = {};             ///< by stage, tasks in their order; of ScheduleKind::table

  bool operator==(const PipelineSetup&) const = default;
};

}}  // namespace c3::workloads
