#pragma once
/// One training step of a transformer on the ranks of a cluster: streams of operations, what hosts launch, and
/// what it needs of memory.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "workloads/experiment.hpp"
#include "workloads/training/memory_ledger.hpp"
#include "workloads/training/setup.hpp"

namespace c3 { inline namespace workloads {

/// The step runs from the first kernel of the first micro-batch's forward pass until parameters are updated.
/// Tensor-parallel ranks are neighbours, data-parallel ones are `tensor_parallel` apart.
/// The program has one script, with a host. Streams: `compute`; `all_gather` and `reduce_scatter` of sharded
/// parameters, or `gradients` of buckets; `tensor` of sums over tensor-parallel ranks, `tensor_gather`,
/// `vocabulary` of the embedding and the loss; `norm` of the gradients' norm. Only those that have work. The
/// facts lack `peak` and `memory_size`, which are the GPU's.
/// \throws std::invalid_argument, naming what does not divide or is not known of the model.
WrittenStep training_step(const TrainingSetup& setup, int ranks);

/// How streams of the step run where a strategy does not say so: what TrainingSetup::tensor_overlap implies.
std::map<std::string, StreamPolicy> usual_policies(const TrainingSetup& setup);

/// The author of \p setup and of the same step at other sizes.
std::shared_ptr<const ProgramFamily> training_family(TrainingSetup setup);

/// Makes \p experiment, whose cluster is set, the training step \p setup: its program, facts and family.
/// \throws as training_step
void set_training(Experiment& experiment, TrainingSetup setup);

/// What \p experiment trains. \pre set_training has made it a training step
const TrainingSetup& training_of(const Experiment& experiment);
/// Whether it is one.
bool is_training(const Experiment& experiment);

/// One stage of the pipeline that \p family writes on \p cluster, with its layers and nothing else where there
/// are three stages or more: the script of its ranks, while the others do nothing, and its facts, which say of
/// memory what its GPUs need. Absent where \p family is no training step, or has one stage.
/// \throws std::invalid_argument where the author cannot write it
std::optional<WrittenStep> written_stage(const ProgramFamily& family, const ClusterSpec& cluster);

/// What each GPU holds of the ranks that run one script.
struct StageMemory {
  MemoryPeak peak;
  std::vector<MemoryMoment> moments;
  /// Micro-batches that have none: each holds what that of the period before it holds.
  std::int64_t left_out = 0;
};

/// What a step needs, by class of ranks.
struct StepMemory {
  StepFacts facts;
  std::vector<StageMemory> stages;  ///< by script of its program
};

/// Facts and memory of the whole step of \p experiment. \pre set_training has made it a training step
StepMemory memory_of_step(const Experiment& experiment);

}}  // namespace c3::workloads
