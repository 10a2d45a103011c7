// Steps whose middle layers and later micro-batches are counted and not simulated.

#include "workloads/analysis/steady_state.hpp"
#include "workloads/analysis/study.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "tests/support/mi300x_like.hpp"
#include "tests/support/near.hpp"
#include "tests/support/print_units.hpp"
#include "tests/support/recording.hpp"
#include "tests/unit/training_experiments.hpp"
#include "tests/unit/training_setups.hpp"

namespace c3::workloads_steady_state_test {

using namespace literals;
using namespace test;

namespace {

const Strategy kDefault{.name = "default", .order = {}, .streams = {}};

Experiment step_of(TrainingSetup setup, bool exact = false) {
  setup.host.kernel_launch = 5.0_us;
  setup.host.layer_forward = setup.host.layer_backward = 40.0_us;
  return fluid_step(setup, 4, exact);
}

RunResult run(const TrainingSetup& setup, bool exact) { return run_step(step_of(setup, exact), kDefault, {}); }

double total(const RunResult& result) {
  Seconds sum;
  for (const ClassTime& class_time : result.classes.front().times.classes)
    sum += class_time.time;
  return sum.value;
}

/// The extrapolated step is the exact one within \p error, class by class.
void check_alike(const TrainingSetup& setup, const std::string& note, double error = 0.01) {
  const RunResult shortened = run(setup, false), exact = run(setup, true);
  CHECK(shortened.notes == std::vector<std::string>{"steady state from " + note + " (--exact simulates all)"});
  CHECK(exact.notes.empty());
  CHECK(shortened.time.value == near(exact.time.value, error));
  CHECK(total(shortened) == near(total(exact), error));
  REQUIRE(shortened.classes.front().times.classes.size() == exact.classes.front().times.classes.size());
  for (std::size_t i = 0; i < exact.classes.front().times.classes.size(); ++i) {
    CHECK(shortened.classes.front().times.classes[i].name == exact.classes.front().times.classes[i].name);
    CHECK(shortened.classes.front().times.classes[i].count ==
          near(exact.classes.front().times.classes[i].count));
  }
  const StepBreakdown& times = shortened.classes.front().times;
  CHECK((times.kernels + times.exposed + times.idle).value == near(shortened.time.value, 1e-6));
  REQUIRE(shortened.estimate);
  CHECK(!exact.estimate);
  CHECK(shortened.estimate->method == "steady state");
  CHECK(shortened.estimate->low <= shortened.time);
  CHECK(shortened.estimate->high >= shortened.time);
  CHECK(shortened.estimate->high - shortened.estimate->low < 2.0 * error * shortened.time);
  const Seconds rounding = 2e-3 * exact.time;  // what no two periods show
  CHECK(shortened.estimate->low <= exact.time + rounding);
  CHECK(shortened.estimate->high >= exact.time - rounding);
}

}  // namespace

TEST_CASE("16 layers of a sharded step from 8, 15 from 7") {
  check_alike(llama_setup(16), "8 of 16 layers");
  check_alike(llama_setup(15), "7 of 15 layers");
}

TEST_CASE("six micro-batches from four") {
  TrainingSetup setup = llama_setup(3);
  setup.sharding = Sharding::none;
  setup.micro_batches = 6;
  check_alike(setup, "4 of 6 micro-batches");
}

TEST_CASE("layers and micro-batches at once") {
  TrainingSetup setup = llama_setup(12);
  setup.micro_batches = 6;
  check_alike(setup, "8 of 12 layers and 4 of 6 micro-batches");
}

TEST_CASE("where one of two or three layers is recomputed, whole periods are left out") {
  TrainingSetup setup = llama_setup(16);
  setup.recompute = Recompute::full;
  setup.recompute_every = 2;
  check_alike(setup, "8 of 16 layers");
  setup.recompute_every = 3;
  check_alike(setup, "10 of 16 layers");
}

TEST_CASE(
    "few layers and micro-batches are simulated whole, and so is all that is observed or asked to be exact") {
  CHECK(run(llama_setup(8), false).notes.empty());
  CHECK(run(llama_setup(8), false).time == run(llama_setup(8), true).time);
  const Experiment experiment = step_of(llama_setup(16));
  Recording recording;
  RunSetup setup;
  setup.observer = &recording;
  CHECK(run_step(experiment, kDefault, setup).notes.empty());
  CHECK(abridged(experiment).family->size() == StepSize{8, 1});
}

TEST_CASE("where the first layers are unlike the later ones, larger steps tell how the later ones repeat") {
  // The first bucket takes three layers, so that of four nearly all reductions wait for the last one's
  // gradients.
  TrainingSetup setup = llama_setup(40);
  setup.sharding = Sharding::none;
  setup.framework.first_bucket = Bytes{4.0 * 3 * 3'146'752};
  setup.framework.bucket = Bytes{4.0 * 3'146'752};
  check_alike(setup, "10 of 40 layers");
}

TEST_CASE("layers that do not repeat in equal times are all simulated, and a note says so") {
  // Buckets of three and a half layers: a reduction is exposed or not, as it comes.
  TrainingSetup setup = llama_setup(16);
  setup.sharding = Sharding::none;
  setup.framework.first_bucket = setup.framework.bucket = Bytes{4.0 * 3.5 * 3'146'752};
  const RunResult result = run(setup, false);
  CHECK(result.notes ==
        std::vector<std::string>{
            "layers or micro-batches do not repeat in equal times: the whole step was simulated"});
  CHECK(result.time == run(setup, true).time);

  // Its timeline is that of the whole step, too: all of its buckets.
  const auto make = [&](std::optional<std::uint64_t>) {
    Experiment experiment = step_of(setup);
    experiment.strategies = {kDefault};
    experiment.measure.loss_split = false;
    return experiment;
  };
  const StrategyResult strategy = run_study(make).strategies.front();
  CHECK_FALSE(strategy.step->is_shortened);
  Recording recording;
  const auto recorded = record_run(make(std::nullopt), strategy, recording);
  CHECK(recorded.size() == make(std::nullopt).program.calls.size());
}

TEST_CASE(
    "a variant at two sizes takes what it takes at three, corrected by the step that it is compared with") {
  TrainingSetup setup = llama_setup(16);
  setup.micro_batches = 8;
  const Experiment step = step_of(setup);
  Experiment variant = step;
  variant.cluster.gpu.dispatch.launch_latency = variant.cluster.gpu.dispatch.dependent_gap = 50.0_us;
  ShorterSteps steps(step), changed(variant);
  const ComparedStep compared = run_step_to_compare(steps, kDefault, {});
  REQUIRE(compared.sizes);
  CHECK(compared.run.time == run_step(steps, kDefault, {}).time);
  CHECK(compared.from_two->time == run_variant(steps, kDefault, {}, *compared.sizes).time);
  CHECK(compared.from_two->time.value == near(compared.run.time.value, 0.01));
  const double ratio = compared.run.time / compared.from_two->time;
  const Seconds cheap = ratio * run_variant(changed, kDefault, {}, *compared.sizes).time;
  const Seconds whole = run_step(changed, kDefault, {}).time;
  CHECK(whole > 1.1 * compared.run.time);
  CHECK(cheap.value == near(whole.value, 0.003));
}

TEST_CASE("the timeline of a shortened step is that of its largest part, which runs once more") {
  struct Recorder : StudyRecorder {
    RunListeners begin(const Strategy&, const Experiment&, const std::string& part) override {
      shortened = part;
      return {&recording};
    }
    void finish(const StrategyResult& result, const std::vector<CollectiveRecord>& collectives) override {
      CHECK(result.step->is_shortened);
      calls = collectives.size();
    }
    Recording recording;
    std::string shortened;
    std::size_t calls = 0;
  } recorder;
  const auto make = [](std::optional<std::uint64_t>) {
    Experiment experiment = step_of(llama_setup(16));
    experiment.strategies = {kDefault};
    experiment.measure.loss_split = false;
    return experiment;
  };
  run_study(make, {.recorder = &recorder});
  CHECK(recorder.shortened == "8 of 16 layers");
  CHECK(recorder.calls == abridged(make(std::nullopt)).program.calls.size());
}

}  // namespace c3::workloads_steady_state_test
