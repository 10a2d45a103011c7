// Where the governors of a repeated run stand when it begins.

#include "workloads/analysis/periodic_power.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "gpu/clock/governor.hpp"
#include "tests/support/near.hpp"
#include "tests/unit/workloads_pair.hpp"
#include "workloads/analysis/steady_state.hpp"

using namespace c3;
using namespace c3::literals;
using namespace c3::test;

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
    const BoardPower& its = run.power.front();
    CHECK(its.end.mean.value == near(its.begin.mean.value, 2e-2));  // it was found with fewer flows
    CHECK(its.means.drawn.value <= 500.0 * 1.002);
    CHECK(its.means.highest.value <= 505.0);
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
  const BoardPower& its = run.power.front();
  CHECK(its.means.speed == 1.0);
  CHECK(its.begin.speed == 1.0);
  CHECK(its.end.mean.value == near(its.begin.mean.value, 2e-2));
  CHECK(its.end.mean.value == near(its.means.drawn.value, 0.1));
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

TEST_CASE("two runs from the same start are the same run") {
  const Experiment experiment = governed_pair(500);
  CHECK(run_step(experiment, in_order(), {}).time == run_step(experiment, in_order(), {}).time);
}
