// What is known of a candidate without a simulation: from a few of its micro-batches as from all of them.

#include <doctest/doctest.h>

#include <cstdint>
#include <utility>

#include "tests/support/governed_gpu.hpp"
#include "tests/support/near.hpp"
#include "tests/unit/training_experiments.hpp"
#include "tests/unit/training_pipelines.hpp"
#include "tests/unit/training_setups.hpp"
#include "tests/unit/workloads_pair.hpp"
#include "workloads/analysis/shorter_steps.hpp"
#include "workloads/training/training_step.hpp"
#include "workloads/tune/candidate.hpp"

namespace c3::tune_candidate_test {

using namespace test;

namespace {

/// A step on boards whose power is known.
Experiment powered_step(const TrainingSetup& setup, int gpus, bool exact) {
  Experiment step = fluid_step(setup, gpus, exact);
  step.cluster.gpu.governor = round_governor();
  return step;
}

CandidateFacts facts_of(const TrainingSetup& setup, int gpus, bool exact) {
  Experiment step = powered_step(setup, gpus, exact);
  step.strategies = {in_order()};
  const SharedFamily whole = step.family;
  const std::int64_t micro_batches = outlined_micro_batches(*whole, step.measure.estimate);
  CHECK((micro_batches < setup.micro_batches) == !exact);
  set_step(step, whole->at({setup.model.layers, micro_batches}));
  step.family = whole;
  return candidate_facts(step, {});
}

}  // namespace

TEST_CASE("few micro-batches say what the whole step needs and takes") {
  TrainingSetup alone = llama_setup(4);
  alone.micro_batches = 12;
  for (const TrainingSetup& setup :
       {alone, pipelined(llama_setup(4), 2, 12), pipelined(llama_setup(8), 2, 24, ScheduleKind::interleaved)}) {
    const CandidateFacts few = facts_of(setup, 4, false), all = facts_of(setup, 4, true);
    CHECK(few.size == all.size);
    CHECK(few.needed == all.needed);
    CHECK(few.fits == all.fits);
    CHECK(few.bound.time.value == near(all.bound.time.value, 1e-6));
    CHECK(few.estimate.time.value == near(all.estimate.time.value, 1e-3));
    CHECK(few.bound.energy.value == near(all.bound.energy.value, 1e-6));
    CHECK(few.estimate.energy.value == near(all.estimate.energy.value, 1e-3));
    CHECK(all.bound.energy > Joules{});
  }
}

TEST_CASE("a step whose memory grows with every micro-batch is looked at whole") {
  const TrainingSetup setup = pipelined(llama_setup(4), 2, 12, ScheduleKind::gpipe);
  const CandidateFacts few = facts_of(setup, 4, false), all = facts_of(setup, 4, true);
  CHECK(few.needed == all.needed);
  CHECK(few.bound.time == all.bound.time);
}

TEST_CASE("one stage says roughly what its whole pipeline needs and takes") {
  // Four layers a stage; the last of four stages has the head, too, which a stage in the middle does not show.
  const TrainingSetup setup = pipelined(llama_setup(16), 4, 12);
  const CandidateFacts all = facts_of(setup, 4, true);
  Experiment stage = powered_step(setup, 4, true);
  stage.strategies = {in_order()};
  WrittenStep written = written_stage(*stage.family, stage.cluster).value();
  stage.program = std::move(written.program);
  stage.step = std::move(written.facts);
  CHECK(!is_one_stage(stage));
  stage.family = {};
  CHECK(is_one_stage(stage));
  const CandidateFacts rough = rough_facts(stage);
  CHECK(rough.size == all.size);
  CHECK(rough.needed <= all.needed);
  CHECK(rough.fits);
  CHECK(rough.bound.time < all.bound.time);
  CHECK(rough.estimate.time < all.estimate.time * 1.02);
  CHECK(rough.estimate.time > all.estimate.time * 0.8);
  // Three of four boards draw idle power at least, and are expected to draw what this one does.
  CHECK(rough.bound.energy > Joules{});
  CHECK(rough.bound.energy < all.bound.energy);
  CHECK(rough.estimate.energy < 1.02 * all.estimate.energy);
  CHECK(rough.estimate.energy > 0.8 * all.estimate.energy);
}

TEST_CASE("a step without a pipeline has no stage to write alone") {
  const Experiment step = fluid_step(llama_setup(4), 4, true);
  CHECK(!written_stage(*step.family, step.cluster));
}

}  // namespace c3::tune_candidate_test
