// Divides the time of a step by what it is spent on, and finds what interference takes of it.

#include "gpu/kernels/attention/attention_shape.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "gpu/kernels/vector/vector_shape.hpp"
#include "workloads/execute/step_breakdown.hpp"

#include <doctest/doctest.h>

#include <numeric>
#include <string>
#include <vector>

#include "configs/jobs/experiment_reader.hpp"
#include "tests/support/mi300x_like.hpp"
#include "tests/support/near.hpp"
#include "tests/support/print_units.hpp"
#include "tests/unit/training_setups.hpp"
#include "workloads/analysis/loss_split.hpp"
#include "workloads/execute/run.hpp"
#include "workloads/program/written_streams.hpp"

namespace c3::workloads_step_breakdown_test {

using namespace literals;
using namespace test;

namespace {

const Strategy kDefault{.name = "default", .order = {}, .streams = {}};

Experiment step_of(const TrainingSetup& setup) {
  Experiment experiment;
  experiment.name = "step";
  experiment.cluster = mi300x_like_cluster();
  experiment.cluster.gpu = mi300x_like_trainer();
  experiment.measure.estimate = Estimator::none;
  set_training(experiment, setup);
  return experiment;
}

}  // namespace

TEST_CASE("unions of spans: kernels, communication, what of it is exposed, and neither") {
  // us:      0    1    2    3    4    5    6    7    8    9
  // kernels       [--- a ---]    [ b ]
  //                    [c]                                    inside of a
  // moved              [------ x -----]    [ y ]
  // kernels 3, communication 4, of which 2 to 3 and 4 to 5 ran beside kernels; neither in 0 to 1, 6 to 7, 8 to
  // 9.
  const std::vector<TimedOperation> timed = {{"gemm", 1.0_us, 3.0_us},
                                             {"norm", 2.0_us, 2.5_us},
                                             {"gemm", 4.0_us, 5.0_us},
                                             {"all_gather", 2.0_us, 5.0_us},
                                             {"all_gather", 7.0_us, 8.0_us}};
  const StepBreakdown times = step_breakdown(timed, 9.0_us);
  CHECK(times.kernels.value == near(3e-6));
  CHECK(times.communication.value == near(4e-6));
  CHECK(times.exposed.value == near(2e-6));
  CHECK(times.idle.value == near(4e-6));
  REQUIRE(times.classes.size() == 3);
  CHECK(times.classes[0].name == "gemm");
  CHECK(times.classes[0].time.value == near(3e-6));
  CHECK(times.classes[0].count == 2);
  CHECK(times.classes[1].name == "norm");
  CHECK(times.classes[2].name == "all_gather");
  CHECK(times.classes[2].count == 2);
  CHECK(times.classes[2].time.value == near(4e-6));
}

TEST_CASE("exposed communication is divided by kind, and what waited for a member is told apart") {
  // us:      0    1    2    3    4    5    6    7    8
  // kernels  [ a ]                         [ b ]
  // TP       [~~~~~~~~ x ----------]                  waits for a member until 2, moves until 5
  // DP                      [ y ---------------------]
  // TP alone from 1 to 3, of which 1 to 2 waiting; both from 3 to 5; DP alone from 5 to 6 and 7 to 8.
  const std::vector<TimedOperation> timed = {
      {"gemm", 0.0_us, 1.0_us},
      {"gemm", 6.0_us, 7.0_us},
      {.operator_class = "all_gather", .begin = {}, .end = 5.0_us, .kind = "tensor", .waits_until = 2.0_us},
      {.operator_class = "all_reduce", .begin = 3.0_us, .end = 8.0_us, .kind = "data"}};
  const StepBreakdown times = step_breakdown(timed, 8.0_us);
  REQUIRE(times.exposed_by.size() == 2);
  CHECK(times.exposed_by[0].kind == "tensor");
  CHECK(times.exposed_by[0].time.value == near(3e-6));
  CHECK(times.exposed_by[0].waiting.value == near(1e-6));
  CHECK(times.exposed_by[1].time.value == near(3e-6));
  CHECK(times.exposed_by[1].waiting == Seconds{});
  CHECK(times.exposed.value == near(6e-6));
}

TEST_CASE("operations by class: what a kernel is, not what it is named") {
  const auto class_of_work = [](auto work) {
    const Program program = program_of({{"s", {{"k", work}}}}, 2);
    return class_of(program, program.scripts[0].streams[0][0]);
  };
  CHECK(class_of_work(AttentionShape{}) == "attention");
  CHECK(class_of_work(VectorShape{.chain = VectorOp::softmax}) == "softmax");
  CHECK(class_of_work(VectorShape{.chain = VectorOp::layernorm}) == "norm");
  CHECK(class_of_work(VectorShape{.chain = VectorOp::adam}) == "optimizer");
  CHECK(class_of_work(VectorShape{.chain = VectorOp::embedding}) == "embedding");
  CHECK(class_of_work(VectorShape{.chain = VectorOp::copy}) == "elementwise");
  CHECK(class_of_work(CollectiveCall{CollectiveKind::reduce_scatter, Bytes{1}}) == "reduce_scatter");
  CHECK(class_of_work(WrittenRecord{"e"}).empty());
}

TEST_CASE("kernels, exposed communication and idle time are the step's, classes have every operation") {
  for (const TrainingSetup& setup : {llama_setup(2), gpt_setup(2)}) {
    for (const bool serial : {false, true}) {
      Strategy strategy = kDefault;
      strategy.serial = serial;
      const Experiment experiment = step_of(setup);
      const RunResult run = run_once(experiment, strategy, {});
      REQUIRE(!run.classes.empty());
      CHECK((run.classes.front().times.kernels + run.classes.front().times.exposed +
             run.classes.front().times.idle)
                .value == near(run.time.value, 1e-6));
      if (serial)
        CHECK(run.classes.front().times.exposed.value ==
              near(run.classes.front().times.communication.value, 1e-6));
      double operations = 0.0, counted = 0.0;
      for_each_operation(experiment.program, [&](const Operation& operation) {
        operations += class_of(experiment.program, operation).empty() ? 0.0 : 1.0;
      });
      for (const ClassTime& class_time : run.classes.front().times.classes)
        counted += class_time.count;
      CHECK(counted == operations);
    }
  }
}

TEST_CASE("with a private copy of everything a step is faster by all parts of the loss split") {
  TrainingSetup setup = llama_setup(2);
  setup.model.hidden = 1024;
  setup.model.ffn = 3072;
  setup.sequence = 256;
  Experiment experiment = step_of(setup);
  experiment.cluster = load_cluster("mi300x-8");
  experiment.measure.loss_split = true;
  const std::vector<std::uint64_t> seeds{0};
  const CuChoice none(experiment.program.streams.size(), 0);
  std::size_t runs = 0;
  const auto time = [&](Isolation isolation) {
    return run_once(experiment, kDefault, {.cus = {}, .seed = 0, .isolation = isolation}).time;
  };
  const Seconds shared = time({});
  const LossBounds bounds{.together = shared, .ideal = Seconds{1e-4}};
  const LossSplit loss = split_loss(experiment, kDefault, none, seeds, bounds, [&] { ++runs; });
  CHECK(runs == loss_split_runs(experiment, kDefault));
  CHECK(runs == 31);
  const Seconds apart = time(Isolation::from_bits((1U << kSharedResources) - 1));
  const Seconds parts = loss.dispatch + loss.cus + loss.cache + loss.hbm + loss.links;
  CHECK(parts.value > 0.0);
  CHECK(apart < shared);
  CHECK((shared - apart - parts).value == doctest::Approx(0.0).scale(shared.value).epsilon(1e-9));
}

}  // namespace c3::workloads_step_breakdown_test
