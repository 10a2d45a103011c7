#pragma once
/// One simulated run of an experiment under one strategy.

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine/observer.hpp"
#include "gpu/clock/power_state.hpp"
#include "gpu/isolation.hpp"
#include "interconnect/rank_partition.hpp"
#include "workloads/execute/launch_observer.hpp"
#include "workloads/execute/operation_filter.hpp"
#include "workloads/execute/partition.hpp"
#include "workloads/execute/run_result.hpp"
#include "workloads/experiment.hpp"

namespace c3 { inline namespace workloads {

class FlowCorrections;
class SharedSchedules;

struct RunSetup {
  CuChoice cus = {};       ///< from cu_choices(); empty = no partition
  std::uint64_t seed = 0;  ///< number of the repetition
  Isolation isolation = {};
  OperationFilter filter = OperationFilter::all;
  /// Run only this stream; operations of all others are skipped.
  std::optional<std::size_t> only_stream = std::nullopt;
  /// Where the governors of the simulated GPUs stand at the start, in the order of RunResult::power; empty: as
  /// after a long idle time.
  std::vector<PowerState> power = {};
  /// What runs of the same study made of their collectives, to which this one adds; nullptr: nothing is shared.
  /// An observed run shares nothing: nobody could tell its observer that it begins anew.
  std::shared_ptr<SharedSchedules> schedules = nullptr;
  /// What the runs of the same step found of their kernels, to which this one adds; nullptr: it finds its own.
  std::shared_ptr<FlowCorrections> corrections = nullptr;
  Observer* observer = nullptr;
  LaunchObserver* launches = nullptr;
};

/// Of all ranks, whichever way they are simulated: one class where one stands for all, and a class each where
/// every rank is simulated.
RankPartition simulated_ranks(const Experiment& experiment, const Strategy& strategy);

/// \throws InfeasibleError, DeadlockError (naming the waiting streams), InterruptedError.
RunResult run_once(const Experiment& experiment, const Strategy& strategy, const RunSetup& setup);

}}  // namespace c3::workloads
