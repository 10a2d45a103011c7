#pragma once
/// What the GPUs of an experiment hold, and what would change that: known without a simulation.

#include <optional>
#include <string>
#include <vector>

#include "app/explain/step_changes.hpp"
#include "configs/jobs/experiment_reader.hpp"
#include "interconnect/rank_partition.hpp"
#include "workloads/analysis/closed_form.hpp"
#include "workloads/training/training_step.hpp"

namespace c3 { inline namespace app {

/// The operation of a stream that holds most.
struct LargestOperation {
  std::string operation, stream;
  Bytes bytes;
};

/// Ranks that run one script of an experiment that is no training step.
struct PlannedMemory {
  std::string name;
  RankRanges ranks;
  std::vector<LargestOperation> largest;  ///< one for each stream that holds something
  std::optional<Bytes> total;             ///< absent where kernels or collectives are known by their times only
};

/// Ranks that run one script of a training step.
struct SteppedMemory {
  std::string name;
  RankRanges ranks;
  StageMemory memory;
};

/// Keys of [training] that change what a step holds, with what the step then is.
struct MemoryChange {
  KeyChange key = {};
  std::string problem = {};  ///< why it makes no experiment; then what follows is empty
  std::optional<StepFacts> facts = std::nullopt;
  ClosedFormTime time = {};
};

struct MemoryAccount {
  std::string experiment, system;
  Bytes limit;  ///< memory of one GPU, less what the framework takes
  /// One per script; for a training step or a network of images.
  std::vector<SteppedMemory> steps;
  std::vector<PlannedMemory> plans;               ///< one per script; for anything else
  std::optional<StepFacts> facts = std::nullopt;  ///< only for a training step
  ClosedFormTime time = {};                       ///< only for a training step
  std::vector<MemoryChange> changes = {};         ///< those that fit first, the fastest first

  bool fits() const;
  /// Position in `steps` of the ranks that need most.
  std::size_t fullest() const;
};

struct MemoryRequest {
  std::string file;
  std::vector<std::string> sets;
  std::size_t shown = 8;                       ///< largest tensors in a table
  std::optional<bool> changes = std::nullopt;  ///< absent: where the step does not fit
  bool json = false;
  std::string page;  ///< file for an HTML page; empty: none
  bool quiet = false;
};

/// \throws ConfigError, InfeasibleError, InterruptedError
MemoryAccount memory_account(const MemoryRequest& request, const ExperimentFile& file);

/// What would make the step of \p account hold less: one key of \p setup at a time, then pairs of them. Each
/// keeps the sequences of a step. \throws InterruptedError
std::vector<MemoryChange> memory_changes(const MemoryRequest& request, const TrainingSetup& setup,
                                         const StepFacts& facts);

std::string memory_text(const MemoryAccount& account, std::size_t shown);
std::string memory_json(const MemoryAccount& account);
/// A row for the step as it is and one for each change that makes an experiment: what, needed [GB], share of
/// the limit, whether it fits, closed form [s], cost.
std::vector<std::vector<std::string>> change_cells(const MemoryAccount& account);
/// One HTML page without scripts: a chart of each class of ranks over a step, largest tensors, changes.
std::string memory_page(const MemoryAccount& account);

}}  // namespace c3::app
