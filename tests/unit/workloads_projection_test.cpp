// Steps projected operator by operator from a profiled one, and schedules of operators that share nothing.

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "tests/support/near.hpp"
#include "tests/support/print_units.hpp"
#include "tests/unit/training_experiments.hpp"
#include "tests/unit/training_setups.hpp"
#include "workloads/analysis/projection.hpp"
#include "workloads/execute/run.hpp"

namespace c3::workloads_projection_test {

using namespace test;
using namespace literals;

namespace {

TrainingSetup with_tensor_parallel(int ranks) {
  TrainingSetup setup = gpt_setup();
  setup.tensor_parallel = ranks;
  return setup;
}

/// Two layers over two ranks of tensor-parallel groups and two replicas.
Experiment step_of(const TrainingSetup& setup) { return fluid_step(setup, 4, true); }

Seconds sum_of(const ProjectedStep& step, const std::string& rule) {
  Seconds sum;
  for (const TimedOperatorOfStep& timed : step.operators)
    if (timed.what.rule == rule) sum += timed.time;
  return sum;
}

std::string refusal(const auto& action) {
  try {
    action();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "none";
}

}  // namespace

TEST_CASE("a schedule puts each operation behind its stream and the events for which it waits") {
  // compute: a 3 ms, record, b 4 ms, wait, c 2 ms. comm: wait, x 5 ms, record. b and x run from 3 on, x until
  // 8, c from 8 to 10. x runs for 1 ms beside nothing.
  ProgramBuilder builder;
  const auto compute = builder.stream("compute"), comm = builder.stream("comm");
  const EventId ready = builder.event("ready"), done = builder.event("done");
  const auto kernel = [&](std::size_t stream) {
    builder.timed(stream, "kernel", {.duration = 1.0_ms, .read = {}, .written = {}});
  };
  kernel(compute);
  builder.record(compute, ready);
  kernel(compute);
  builder.wait(compute, done);
  kernel(compute);
  builder.wait(comm, ready);
  builder.collective(comm, "x", {.kind = CollectiveKind::all_reduce, .bytes = Bytes{1e6}});
  builder.record(comm, done);
  const Program program = builder.take();
  const std::vector<std::vector<Seconds>> lasts = {{3.0_ms, {}, 4.0_ms, {}, 2.0_ms}, {{}, 5.0_ms, {}}};
  const IsolatedSchedule found = schedule(program, program.scripts.front(), lasts);
  CHECK(found.time.value == near(10e-3));
  CHECK(found.times.kernels.value == near(9e-3));
  CHECK(found.times.communication.value == near(5e-3));
  CHECK(found.times.exposed.value == near(1e-3));
}

TEST_CASE("a schedule refuses streams that wait for one another") {
  ProgramBuilder builder;
  const auto a = builder.stream("a"), b = builder.stream("b");
  const EventId of_a = builder.event("of a"), of_b = builder.event("of b");
  builder.wait(a, of_b);
  builder.record(a, of_a);
  builder.wait(b, of_a);
  builder.record(b, of_b);
  const Program program = builder.take();
  CHECK(refusal([&] {
          schedule(program, program.scripts.front(), {{{}, {}}, {{}, {}}});
        }) == "stream 'a' waits for an event for ever");
}

TEST_CASE("a step projected from itself is the step with each operator alone") {
  for (const int tensor : {1, 2}) {
    const Experiment step = step_of(with_tensor_parallel(tensor));
    const ProjectedStep own = alone(step), projected = Baseline(step).project(step);
    REQUIRE(own.operators.size() == projected.operators.size());
    for (std::size_t i = 0; i < own.operators.size(); ++i)
      CHECK(projected.operators[i].time.value == near(own.operators[i].time.value, 1e-12));
    CHECK(projected.schedule.time == own.schedule.time);
    // A layer's operators are timed once, however many layers there are.
    CHECK(own.profiled < own.operators.size() / 2);
  }
}

TEST_CASE("property: operators grow with their work and shrink with peak rates, each by its own rule") {
  const Experiment step = step_of(with_tensor_parallel(2));
  const Baseline baseline(step);
  const ProjectedStep before = baseline.project(step);
  // Twice the sequences: all but the optimizer and its gradients work twice as much.
  TrainingSetup twice = with_tensor_parallel(2);
  twice.micro_batch *= 2;
  const ProjectedStep larger = baseline.project(step_of(twice));
  REQUIRE(larger.operators.size() == before.operators.size());
  CHECK(sum_of(larger, "gemm").value == near(2 * sum_of(before, "gemm").value, 1e-9));
  for (std::size_t i = 0; i < before.operators.size(); ++i) {
    const ProfiledOperator &was = before.operators[i].what, &is = larger.operators[i].what;
    CHECK(larger.operators[i].time / before.operators[i].time == near(is.work / was.work, 1e-9));
  }
  // Three times the rate of fp16 products, HBM and links: products, other kernels and collectives take a third.
  const std::pair<const char*, void (*)(ClusterSpec&)> kRates[] = {
      {"gemm",
       [](ClusterSpec& cluster) {
         for (MatrixRate& rate : cluster.gpu.compute.matrix)
           rate.peak = rate.peak * 3.0;
       }},
      {"bytes", [](ClusterSpec& cluster) { cluster.gpu.hbm.peak = cluster.gpu.hbm.peak * 3.0; }},
      {"collective", [](ClusterSpec& cluster) { cluster.node.link.raw = cluster.node.link.raw * 3.0; }}};
  for (const auto& [rule, make_faster] : kRates) {
    CAPTURE(std::string(rule));
    Experiment faster = step;
    make_faster(faster.cluster);
    const ProjectedStep after = baseline.project(faster);
    for (const char* resource : {"gemm", "bytes", "collective"}) {
      const double times = std::string(resource) == rule ? 3.0 : 1.0;
      CHECK(sum_of(after, resource).value == near(sum_of(before, resource).value / times, 1e-9));
    }
  }
}

TEST_CASE("without anything beside it, a simulated step is its operators alone and the gaps between them") {
  const Experiment step = fluid_step(gpt_setup(), 1, true);
  const ProjectedStep own = alone(step);
  const double gaps = static_cast<double>(own.operators.size()) * step.cluster.gpu.dispatch.dependent_gap.value;
  const Seconds simulated = run_once(step, {.name = "default", .order = {}, .streams = {}}, {}).time;
  CHECK(simulated.value == near(own.schedule.time.value + gaps, 0.01));
}

TEST_CASE("what a baseline does not have, and ranks that do different things, are refused by name") {
  const Baseline baseline(step_of(with_tensor_parallel(1)));
  const std::string missing = refusal([&] { baseline.project(step_of(with_tensor_parallel(2))); });
  CHECK(missing.starts_with("the baseline has no operator '"));
  CHECK(missing.ends_with("profile a step that has it"));
  TrainingSetup stages = gpt_setup();
  stages.pipeline.stages = 2;
  stages.micro_batches = 2;
  CHECK(refusal([&] { alone(step_of(stages)); }) ==
        "'step' has ranks that do different things; a projection requires that all do the same");
}

}  // namespace c3::workloads_projection_test
