#pragma once
/// One simulated run of an experiment under one strategy.

#include <optional>
#include <vector>

#include "collectives/collective_run.hpp"
#include "engine/observer.hpp"
#include "gpu/isolation.hpp"
#include "workloads/execute/partition.hpp"
#include "workloads/execute/step_breakdown.hpp"
#include "workloads/execute/study.hpp"
#include "workloads/experiment.hpp"

namespace c3 {

/// Which operations of a stream run. The others are skipped; events never are.
enum class Side { both, kernels, collectives, none };

struct RunSetup {
  CuChoice cus = {};       ///< from cu_choices(); empty = no partition
  std::uint64_t seed = 0;  ///< number of the repetition
  Isolation isolation = {};
  Side side = Side::both;
  /// Run only this stream; operations of all others are skipped.
  std::optional<std::size_t> only_stream = std::nullopt;
  Observer* observer = nullptr;
};

/// When the operations of one side were first released and last ended, over all ranks.
struct SideSpan {
  Seconds release, end;
  bool any = false;
  Seconds duration() const { return end - release; }
};

struct RunResult {
  /// From the first rank's launch until the last operation of the last rank ended; of a whole strategy whose
  /// streams ran beside one another, until its host has seen that.
  Seconds time;
  SideSpan kernels, collectives;
  std::vector<SideSpan> streams;  ///< in the order of the experiment
  std::vector<CollectiveRecord> records;
  bool is_shortened = false;  ///< its times follow from steps of fewer layers or micro-batches
  std::optional<StepBreakdown> step = std::nullopt;  ///< of rank 0, of a training step
  std::uint64_t events = 0;                          ///< completed flows
  std::vector<std::string> notes = {};  ///< printed with the result, e.g. an override of the strategy
};

/// \throws InfeasibleError, DeadlockError (naming the waiting streams), InterruptedError.
RunResult run_once(const Experiment& experiment, const Strategy& strategy, const RunSetup& setup);

}  // namespace c3
