#pragma once
/// A GEMM beside an all-gather on the round-number cluster, with dates that can be worked out by hand.

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "engine/errors.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "tests/support/mi300x_like.hpp"
#include "tests/support/recording.hpp"
#include "tests/support/written_experiment.hpp"
#include "workloads/execute/run.hpp"
#include "workloads/experiment.hpp"

namespace c3::test {

/// 256 x 256 tiles; 304 make a full wave of 38 on each of 8 XCDs.
inline GemmShape gemm_of_tiles(std::int64_t rows, std::int64_t columns, std::int64_t k = 4096) {
  return {256 * rows, 256 * columns, k, DType::bf16};
}
inline CollectiveCall gather(Bytes bytes = Bytes{1e9}) { return {CollectiveKind::all_gather, bytes}; }

/// 456 tiles: on a free GPU a full wave, and one that leaves half of the CUs free.
inline WrittenExperiment pair(const GemmShape& gemm = gemm_of_tiles(24, 19),
                              const CollectiveCall& call = gather()) {
  WrittenExperiment experiment;
  experiment.name = "pair";
  experiment.cluster = mi300x_like_cluster();
  experiment.streams = {{"compute", {{"gemm", gemm}}}, {"fsdp", {{"gather", call}}}};
  experiment.measure.loss_split = false;
  return experiment;
}

inline Strategy in_order(std::vector<std::string> order = {}) {
  return {.name = "strategy", .order = std::move(order), .streams = {}};
}

/// A wave: 0.4 us of first loads, then 2 x 256 x 256 x k flops at a 304th of 700 TFLOP/s.
inline double wave_seconds(double k = 4096) { return 0.4e-6 + 2.0 * 256 * 256 * k / (700e12 / 304); }
inline constexpr double kLaunch = 2.0e-6;
inline constexpr double kGap = 1.5e-6;
inline constexpr double kStores = 0.4e-6;
/// An all-gather of 1 GB from its first channel's placement, with the links to itself.
inline constexpr double kGather = 17e-6 + 2.2e-6 + 125e6 / 42e9;

inline RunResult run_side(const Experiment& experiment, OperationFilter filter, std::uint64_t seed = 0) {
  RunSetup setup;
  setup.filter = filter;
  setup.seed = seed;
  return run_once(experiment, in_order(), setup);
}

/// What \p experiment waits for without end; empty when it ends.
inline std::string deadlock_of(const Experiment& experiment) {
  try {
    run_once(experiment, in_order(), {});
  } catch (const DeadlockError& error) {
    return error.what();
  }
  return "";
}

inline RunResult run_recorded(const Experiment& experiment, const Strategy& strategy, Observer& recording) {
  RunSetup setup;
  setup.observer = &recording;
  return run_once(experiment, strategy, setup);
}

/// Start of the first activity of that kind.
inline double first_start(const Recording& recording, ActivityKind kind) {
  double start = INFINITY;
  for (const auto* activity : recording.of_kind(kind))
    start = std::min(start, activity->start.value);
  return start;
}

}  // namespace c3::test
