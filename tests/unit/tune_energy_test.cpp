// What boards draw in a candidate's run, at least and about, beside what a simulation has them draw.

#include <doctest/doctest.h>

#include <array>
#include <span>
#include <utility>
#include <vector>

#include "gpu/clock/governor.hpp"
#include "tests/support/governed_gpu.hpp"
#include "tests/support/near.hpp"
#include "tests/unit/training_experiments.hpp"
#include "tests/unit/training_pipelines.hpp"
#include "tests/unit/training_setups.hpp"
#include "tests/unit/workloads_pair.hpp"
#include "workloads/analysis/run_clock.hpp"
#include "workloads/analysis/steady_state.hpp"
#include "workloads/program/program_builder.hpp"
#include "workloads/tune/energy_bound.hpp"
#include "workloads/tune/model_times.hpp"

namespace c3::tune_energy_test {

using namespace test;

namespace {

/// \p step with a governor for products that are too small for a GPU, which otherwise draw little.
Experiment powered(Experiment step, double flop_pj, double limit) {
  step.cluster.gpu.governor = round_governor();
  step.cluster.gpu.governor.flop_pj = flop_pj;
  step.cluster.gpu.governor.limit = step.cluster.gpu.governor.board = Watts{limit};
  step.cluster.gpu.governor.averaging = 1.0_ms;
  return step;
}

}  // namespace

TEST_CASE("a board draws idle power and what its products take beyond it, within the limit") {
  const GpuSpec gpu = governed_gpu();  // 100 W idle, 600 W at most
  REQUIRE(power_limit(gpu) == Watts{600});
  const ProductEnergy energy{.least = Joules{50}, .at_boost = Joules{80}};
  CHECK(least_energy(gpu, energy, Seconds{1}).value == near(kHeldPower * 150));
  CHECK(likely_energy(gpu, energy, Seconds{1}).value == near(180));
  CHECK(least_energy(gpu, energy, Seconds{0.05}).value == near(kHeldPower * 30));
  CHECK(likely_energy(gpu, energy, Seconds{0.05}).value == near(30));
}

TEST_CASE("products count once, the least of their energy and of the limit, those of the busiest stream") {
  ProgramBuilder builder;
  const auto a = builder.stream("a"), b = builder.stream("b");
  const Operator small = gemm_of_tiles(24, 19, 1 << 12), large = gemm_of_tiles(24, 19, 1 << 14);
  builder.kernel(a, "small", small);
  builder.kernel(a, "small", small);
  builder.kernel(b, "large", large);
  const Program program = builder.take();
  GpuSpec gpu = powered(fluid_step(gpt_setup(), 1, true), 1.0, 1e5).cluster.gpu;
  PowerLoads loads(gpu);
  const PowerLoad of_small = loads.of(program.scripts.front().streams[0].front().name, small).value();
  const PowerLoad of_large = loads.of(program.scripts.front().streams[1].front().name, large).value();
  const ProductEnergy cool = product_energy(program.scripts.front(), gpu, loads);
  CHECK(cool.at_boost.value == near(2 * of_small.energy.value + of_large.energy.value));
  CHECK(cool.least.value == near(of_large.energy.value));
  gpu.governor.flop_pj = 1e4;
  PowerLoads hot_loads(gpu);
  const ProductEnergy hot = product_energy(program.scripts.front(), gpu, hot_loads);
  CHECK(hot.at_boost.value == near(1e4 * cool.at_boost.value));
  CHECK(hot.least.value == near((1e5 - 100) * of_large.arithmetic.value));
}

TEST_CASE("no step draws less than its bound, whether its clock is free or held, and about what is expected") {
  const std::vector<Experiment> steps = {
      fluid_step(gpt_setup(), 4, true), fluid_step(llama_setup(4), 4, true),
      fluid_step(pipelined(llama_setup(4), 2, 4), 4, true),
      fluid_step(pipelined(llama_setup(8), 2, 4, ScheduleKind::interleaved), 2, true)};
  for (const Experiment& plain : steps) {
    for (const auto& [flop_pj, limit] :
         {std::pair(1.0, 600.0), {100.0, 600.0}, {400.0, 200.0}, {2000.0, 400.0}}) {
      const Experiment step = powered(plain, flop_pj, limit);
      const Joules drawn = clock_of(run_step(step, in_order(), {}))->energy.value();
      const ModelTimes times = model_times(step, std::array{in_order()}).front();
      CAPTURE(flop_pj);
      CAPTURE(times.least_energy / drawn);
      CAPTURE(times.likely_energy / drawn);
      CHECK(times.least_energy <= drawn);
      CHECK(times.least_energy > 0.3 * drawn);
      CHECK(times.likely_energy > 0.6 * drawn);
      CHECK(times.likely_energy < 1.3 * drawn);
    }
  }
}

TEST_CASE("kernels of cohorts and those of every strategy draw no less than the bound, either") {
  for (const double limit : {600.0, 200.0}) {
    Experiment step = powered(fluid_step(gpt_setup(), 4, true), 400.0, limit);
    step.measure.kernel_grain = step.measure.vector_grain = KernelGrain::cohort;
    Strategy prioritized = in_order();
    prioritized.streams["gradients"].priority = 1;
    Strategy serial = in_order();
    serial.serial = true;
    for (const Strategy& strategy : {in_order(), prioritized, serial}) {
      const Joules drawn = clock_of(run_step(step, strategy, {}))->energy.value();
      CAPTURE(limit);
      CAPTURE(strategy.serial);
      CHECK(model_times(step, std::span(&strategy, 1)).front().least_energy <= drawn);
    }
  }
}

TEST_CASE("without a power in the preset there is no energy") {
  const ModelTimes times = model_times(fluid_step(gpt_setup(), 4, true), std::array{in_order()}).front();
  CHECK(times.least_energy == Joules{});
  CHECK(times.likely_energy == Joules{});
}

TEST_CASE("the energy of a run is that of all boards for which the simulated ones stand") {
  RunResult run;
  run.time = Seconds{2};
  CHECK_FALSE(clock_of(run));
  run.power.resize(2);
  run.power[0].boards = 3;
  run.power[0].means.drawn = Watts{100};
  run.power[1].means.drawn = Watts{300};
  run.power[1].means.speed = 0.8;
  const RunClock clock = clock_of(run).value();
  CHECK(clock.energy->value == near(2 * (3 * 100 + 300)));
  CHECK(clock.mean == Watts{300});
}

}  // namespace c3::tune_energy_test
