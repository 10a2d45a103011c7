// The state of the governors of a repeated run when it begins.

#include "workloads/analysis/periodic_power.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <vector>

#include "gpu/clock/governor.hpp"
#include "tests/support/mi300x_like.hpp"
#include "tests/support/near.hpp"
#include "tests/unit/training_experiments.hpp"
#include "tests/unit/training_setups.hpp"
#include "tests/unit/workloads_pair.hpp"
#include "workloads/analysis/steady_state.hpp"

namespace c3::workloads_periodic_power_test {

using namespace literals;
using namespace test;

namespace {

/// 456 tiles of 700 TFLOP/s at 1.1 pJ a flop, beside an all-gather; a board of \p limit, 35 ms.
Experiment governed_pair(double limit, ClockState state = ClockState::sustained) {
  WrittenExperiment written = pair(gemm_of_tiles(24, 19, 16384), gather());
  written.cluster.gpu.governor = {.board = Watts{limit},
                                  .limit = Watts{limit},
                                  .idle = Watts{100},
                                  .flop_pj = 1.1,
                                  .byte_pj = 1.0,
                                  .exponent = 0.5,
                                  .burst = 1.35,
                                  .averaging = 35.0_ms,
                                  .level = {},
                                  .state = state};
  return written;
}

const Strategy kSerial{.name = "serial", .serial = true, .order = {}, .streams = {}};

/// Six micro-batches through two stages, some ms each; the mean of a board of \p limit is that of \p averaging.
Experiment governed_pipeline(double limit, Seconds averaging, bool exact = false) {
  TrainingSetup setup = llama_setup(2);
  setup.model.hidden = 4096;
  setup.model.ffn = 12288;
  setup.sequence = 2048;
  setup.micro_batches = 6;  // as many as are always simulated
  setup.pipeline.stages = 2;
  Experiment experiment = fluid_step(setup, 2, exact);
  experiment.cluster.gpu.governor = governed_pair(limit).cluster.gpu.governor;
  experiment.cluster.gpu.governor.averaging = averaging;
  return experiment;
}

std::vector<double> means_of(const std::vector<PowerState>& states) {
  std::vector<double> means;
  for (const PowerState& state : states)
    means.push_back(state.mean.value);
  return means;
}

RunResult run_from(const Experiment& experiment, const Strategy& strategy, RunSetup setup) {
  setup.power = periodic_start(experiment, strategy, setup);
  return run_once(experiment, strategy, setup);
}

}  // namespace

TEST_CASE("a run that is repeated leads back to where it began, at a mean of the limit at most") {
  const Experiment experiment = governed_pair(500);
  for (const Strategy& strategy : {kSerial, in_order()}) {
    const RunResult run = run_from(experiment, strategy, {});
    REQUIRE(run.power.size() == 1);
    const BoardPower& board = run.power.front();
    CHECK(board.end.mean.value == near(board.begin.mean.value, 2e-2));  // it was found with fewer flows
    CHECK(board.means.drawn.value <= 500.0 * 1.002);
    CHECK(board.means.highest.value <= 505.0);
  }
}

TEST_CASE("what shares its period with waiting and copying is slowed less than a product that follows itself") {
  const Experiment experiment = governed_pair(500);
  const RunResult alone = run_from(experiment, in_order(), {.filter = OperationFilter::kernels});
  const RunResult serial = run_from(experiment, kSerial, {});
  // The speed of a stream of this product is what its own power leaves.
  CHECK(alone.power.front().means.speed ==
        near(std::sqrt(500.0 / alone.power.front().means.at_boost.value), 1e-2));
  CHECK(alone.power.front().means.speed < 0.9);
  CHECK(serial.power.front().means.speed > alone.power.front().means.speed + 0.02);
  CHECK(serial.kernels.duration() < alone.kernels.duration());
}

TEST_CASE("below the limit nothing is slowed, and the mean that a run leads back to is its own") {
  const Experiment experiment = governed_pair(2000);
  const RunResult run = run_from(experiment, kSerial, {});
  const BoardPower& board = run.power.front();
  CHECK(board.means.speed == 1.0);
  CHECK(board.begin.speed == 1.0);
  CHECK(board.end.mean.value == near(board.begin.mean.value, 2e-2));
  CHECK(board.end.mean.value == near(board.means.drawn.value, 0.1));
}

TEST_CASE("a burst begins from idle") {
  const Experiment experiment = governed_pair(500, ClockState::burst);
  CHECK(periodic_start(experiment, kSerial, {}).empty());
  const RunSetup kernels{.filter = OperationFilter::kernels};
  const RunResult run = run_step(experiment, in_order(), kernels);
  CHECK(run.power.front().begin.mean.value == 100.0);
  CHECK(run.time < 0.9 * run_step(governed_pair(500), in_order(), kernels).time);
}

TEST_CASE("collectives alone, and GPUs of unknown power, have no governor to start") {
  CHECK(periodic_start(governed_pair(500), kSerial, {.filter = OperationFilter::collectives}).empty());
  const Experiment unknown = pair();
  CHECK(periodic_start(unknown, kSerial, {}).empty());
  CHECK(run_once(unknown, kSerial, {}).power.empty());
}

TEST_CASE("a step of many micro-batches begins where the last of them alone leave the governor") {
  const Experiment step = governed_pipeline(300, 1.0_ms);
  const Strategy strategy = in_order();
  RunSetup setup;
  setup.power = periodic_start(step, strategy, setup);
  const RunResult begun = run_once(step, strategy, setup);
  RunSetup fixed;  // the whole step, from where it ended itself
  RunResult led_to = run_once(step, strategy, fixed);
  for (int i = 0; i < 3; ++i) {
    fixed.power.clear();
    for (const BoardPower& board : led_to.power)
      fixed.power.push_back(board.end);
    led_to = run_once(step, strategy, fixed);
  }
  REQUIRE(setup.power.size() == led_to.power.size());
  for (std::size_t i = 0; i < setup.power.size(); ++i) {
    CHECK(led_to.power[i].means.speed < 0.98);  // the limit does hold it
    CHECK(setup.power[i].mean.value == near(led_to.power[i].end.mean.value, 1e-2));
    CHECK(setup.power[i].speed == near(led_to.power[i].end.speed, 1e-2));
  }
  CHECK(begun.time.value == near(led_to.time.value, 1e-3));
  // It was no run of the whole step, which --exact makes.
  const auto exact = periodic_start(governed_pipeline(300, 1.0_ms, true), strategy, {});
  CHECK(means_of(setup.power) != means_of(exact));
}

TEST_CASE(
    "where the last micro-batches do not fill five times the averaging, the whole step says how it begins") {
  for (const Seconds averaging : {100.0_ms, 400.0_ms}) {
    const auto start = periodic_start(governed_pipeline(300, averaging), in_order(), {});
    const auto exact = periodic_start(governed_pipeline(300, averaging, true), in_order(), {});
    REQUIRE_FALSE(start.empty());
    CHECK(means_of(start) == means_of(exact));
  }
}

TEST_CASE("two runs from the same start are the same run") {
  const Experiment experiment = governed_pair(500);
  CHECK(run_step(experiment, in_order(), {}).time == run_step(experiment, in_order(), {}).time);
}

}  // namespace c3::workloads_periodic_power_test
