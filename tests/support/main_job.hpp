#pragma once
// The main job and random small relatives of it, for tests of the whole model.

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "configs/jobs/experiment_reader.hpp"
#include "configs/presets/preset_store.hpp"
#include "engine/random.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "workloads/execute/run.hpp"
#include "workloads/experiment.hpp"

namespace c3::test {

inline Experiment main_job() {
  for (const auto& file : experiment_files()) {
    if (file.stem() == "c3_llama70b_mi300x") return ExperimentFile::load(file).make(std::nullopt);
  }
  throw std::runtime_error("no experiment c3_llama70b_mi300x");
}

inline const Strategy& strategy_of(const Experiment& experiment, const std::string& name) {
  const auto found = std::ranges::find(experiment.strategies, name, &Strategy::name);
  if (found == experiment.strategies.end()) throw std::runtime_error("no strategy " + name);
  return *found;
}

/// What the first operation of \p job's first stream runs.
inline auto& kernel_work(Experiment& job) { return job.program.scripts[0].streams[0][0].work; }

/// A GEMM of 1 to 64 tiles a side beside a collective of 1 to 128 MiB, with the main job's system and
/// strategies.
inline Experiment random_job(std::uint64_t number) {
  const RandomStream random(number, 0);
  const auto between = [&](std::uint64_t index, double low, double high) {
    return low + (high - low) * random.uniform(index);
  };
  Experiment job = main_job();
  job.name = "random " + std::to_string(number);
  const auto extent = [&](std::uint64_t index) {
    return static_cast<std::int64_t>(256.0 * std::exp2(between(index, 0, 6)));
  };
  kernel_work(job) = GemmShape{extent(1), extent(2), extent(3) / 2 + 64, DType::bf16};
  const auto kind = random.uniform(4) < 0.5 ? CollectiveKind::all_gather : CollectiveKind::all_to_all;
  job.program.calls[0].what = CollectiveCall{kind, Bytes{kMebi * std::exp2(between(5, 0, 7))}};
  for (Strategy& strategy : job.strategies) {
    if (random.uniform(6) < 0.3) strategy.streams["fsdp"].method.algorithm = Algorithm::ring;
  }
  job.measure.seeds = 1;
  job.measure.seed = number;
  return job;
}

/// Runs a strategy with the first of its CU choices.
inline RunResult run_strategy(const Experiment& job, const Strategy& strategy, RunSetup setup = {}) {
  if (setup.cus.empty()) setup.cus = cu_choices(job, strategy).front();
  return run_once(job, strategy, setup);
}

inline RunResult run_alone(const Experiment& job, OperationFilter filter, std::uint64_t seed = 0) {
  RunSetup setup;
  setup.filter = filter;
  setup.seed = seed;
  return run_once(job, Strategy{.name = "alone", .order = {}, .streams = {}}, setup);
}

}  // namespace c3::test
