// What is known of a step of many micro-batches of which few are written.

#include "workloads/analysis/step_outline.hpp"

#include <doctest/doctest.h>

#include <utility>

#include "tests/support/near.hpp"
#include "tests/support/print_units.hpp"
#include "tests/unit/training_experiments.hpp"
#include "tests/unit/training_pipelines.hpp"
#include "tests/unit/training_setups.hpp"
#include "tests/unit/workloads_pair.hpp"
#include "workloads/analysis/lower_bound.hpp"
#include "workloads/analysis/shorter_steps.hpp"
#include "workloads/analysis/steady_state.hpp"

namespace c3::workloads_step_outline_test {

using namespace literals;
using namespace test;

namespace {

/// The outline that ExperimentFile::outline() makes of \p whole.
Experiment outline_of(const Experiment& whole) {
  Experiment outline = whole;
  const ProgramFamily& family = *whole.family;
  set_step(outline, family.at({family.size().layers, outlined_micro_batches(family, whole.measure.estimate)}));
  outline.family = whole.family;
  return outline_of_whole(std::move(outline));
}

Experiment written(const TrainingSetup& setup) {
  Experiment whole = fluid_step(setup, 4, /*exact=*/false);
  whole.strategies = {in_order()};
  return whole;
}

}  // namespace

TEST_CASE("an outline has the facts and the lower bounds of the whole step") {
  TrainingSetup alone = llama_setup(4);
  alone.micro_batches = 12;
  for (const TrainingSetup& setup :
       {alone, pipelined(llama_setup(4), 2, 12), pipelined(llama_setup(8), 2, 24, ScheduleKind::interleaved)}) {
    const Experiment whole = written(setup), outline = outline_of(whole);
    REQUIRE(outline.is_outline);
    CHECK(outline.program.operations() < whole.program.operations());
    CHECK(outline.step == whole.step);
    const LowerBound few = lower_bound(outline), all = lower_bound(whole);
    CHECK(few.kernels.value == near(all.kernels.value, 1e-12));
    CHECK(few.collectives.value == near(all.collectives.value, 1e-12));
    CHECK(few.hbm.value == near(all.hbm.value, 1e-12));
    CHECK(few.serial.value == near(all.serial.value, 1e-12));
  }
}

TEST_CASE("a step from its outline takes as long as from the whole, simulated in part or whole") {
  TrainingSetup buckets = llama_setup(16);  // of three and a half layers, so that no period is like another
  buckets.micro_batches = 8;
  buckets.sharding = Sharding::none;
  buckets.framework.first_bucket = buckets.framework.bucket = Bytes{4.0 * 3.5 * 3'146'752};
  for (TrainingSetup setup : {pipelined(llama_setup(4), 2, 12), buckets}) {
    setup.host.kernel_launch = 5.0_us;
    setup.host.layer_forward = setup.host.layer_backward = 40.0_us;
    const Experiment whole = written(setup), outline = outline_of(whole);
    REQUIRE(outline.is_outline);
    const RunResult few = run_step(outline, outline.strategies.front(), {});
    const RunResult all = run_step(whole, whole.strategies.front(), {});
    CHECK(few.time == all.time);
    CHECK(few.is_shortened == (setup.pipeline.stages > 1));
    CHECK(few.notes == all.notes);
  }
}

TEST_CASE("an outline needs the memory of the whole step where that grows with every micro-batch") {
  const Experiment whole = written(pipelined(llama_setup(4), 2, 12, ScheduleKind::gpipe));
  const Experiment outline = outline_of(whole);
  REQUIRE(outline.is_outline);
  CHECK(outline.step == whole.step);
}

TEST_CASE("a step of few micro-batches is written whole") {
  const Experiment whole = written(pipelined(llama_setup(4), 2, 4));
  CHECK(outline_of(whole) == whole);
}

TEST_CASE("of a step that does not fit in memory only the facts are written") {
  const TrainingSetup setup = pipelined(llama_setup(4), 2, 12);
  const Experiment whole = written(setup);
  Experiment small = whole;
  small.cluster.gpu.hbm.size = whole.step->memory.held * 0.9;
  set_step(small, whole.family->at(whole.family->size()));
  Experiment outline = outlined(small, {4, outlined_micro_batches(*whole.family, whole.measure.estimate)});
  CHECK(outline.program.operations() == 0);
  outline.family = whole.family;
  outline = outline_of_whole(std::move(outline));
  CHECK(!outline.step->fits());
  CHECK(outline.step == small.step);
}

}  // namespace c3::workloads_step_outline_test
