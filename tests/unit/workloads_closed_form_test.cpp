// Steps by closed form: sums, dependencies and the pipeline's bubble, without a simulation.

#include <doctest/doctest.h>

#include "collectives/library/tuner.hpp"
#include "tests/support/near.hpp"
#include "tests/support/print_units.hpp"
#include "tests/unit/training_experiments.hpp"
#include "tests/unit/training_setups.hpp"
#include "workloads/analysis/closed_form.hpp"
#include "workloads/analysis/closed_form_times.hpp"
#include "workloads/analysis/projection.hpp"
#include "workloads/program/program_builder.hpp"

namespace c3::workloads_closed_form_test {

using namespace test;
using namespace literals;

namespace {

/// compute: 3 ms, record, 4 ms, wait. comm: wait for the first, then an all-reduce, whose end is recorded.
Experiment written_by_hand(Bytes bytes) {
  ProgramBuilder builder;
  const auto compute = builder.stream("compute"), comm = builder.stream("comm");
  const EventId ready = builder.event("ready"), done = builder.event("done");
  builder.timed(compute, "a", {.duration = 3.0_ms, .read = {}, .written = {}});
  builder.record(compute, ready);
  builder.timed(compute, "b", {.duration = 4.0_ms, .read = {}, .written = {}});
  builder.wait(compute, done);
  builder.wait(comm, ready);
  builder.collective(comm, "x", {.kind = CollectiveKind::all_reduce, .bytes = bytes});
  builder.record(comm, done);
  Experiment experiment;
  experiment.cluster = mi300x_like_cluster(4);
  experiment.program = builder.take();
  return experiment;
}

}  // namespace

TEST_CASE("a closed form adds up what streams and events order, and hides what they do not") {
  const Experiment small = written_by_hand(Bytes{1e6}), large = written_by_hand(Bytes{1e10});
  // 3 ms, then 4 ms beside an all-reduce that takes less, or one that takes longer.
  CHECK(closed_form_time(small).time.value == near(7e-3));
  CHECK(closed_form_time(small).kernels.value == near(7e-3));
  const ClosedFormTime slow = closed_form_time(large);
  CHECK(slow.communication.value > 4e-3);
  CHECK(slow.time.value == near(3e-3 + slow.communication.value));
}

TEST_CASE("copies to and from a host take their bytes at the rate of the link, its own those of its memory") {
  ProgramBuilder builder;
  const auto copies = builder.stream("copies");
  builder.host_copy(copies, "out", {.bytes = Bytes{1e9}, .way = HostWay::to_host});
  builder.host_copy(copies, "pageable", {.bytes = Bytes{1e9}, .way = HostWay::from_host, .most = 10.0_GBps});
  builder.host_copy(copies, "update", {.bytes = Bytes{1e9}, .way = HostWay::within});
  Experiment experiment;
  experiment.cluster = mi300x_like_cluster(4);
  experiment.cluster.node.pcie.one_way = 50.0_GBps;
  experiment.cluster.node.host.memory = 400.0_GBps;  // of four GPUs
  experiment.program = builder.take();
  CHECK(closed_form_time(experiment).time.value == near(1e9 / 50e9 + 1e9 / 10e9 + 1e9 / 100e9));
  experiment.cluster.node.c2c.raw = 450.0_GBps;
  experiment.cluster.node.c2c.one_way = 400.0_GBps;
  CHECK(closed_form_time(experiment).time.value == near(1e9 / 400e9 + 1e9 / 10e9 + 1e9 / 100e9));
}

TEST_CASE("a collective takes what its library expects") {
  const Experiment experiment = written_by_hand(Bytes{1e8});
  const CollectiveCall& call = experiment.program.calls.front().what;
  const CollectiveMethod method = choose_method(call, experiment.cluster, {});
  const auto expected = expected_time(call, method.algorithm, method.protocol, experiment.cluster);
  const Seconds found = closed_form_time(experiment).communication;
  if (expected) {
    CHECK(found == *expected);
  } else {  // 2 x 3/4 of the bytes leave each of four ranks over three links
    CHECK(found.value == near(1.5e8 / rate_in_node(3, experiment.cluster).value));
  }
}

TEST_CASE("a closed form has the kernels of a step alone, and a pipeline's bubble on top") {
  Experiment step = fluid_step(gpt_setup(), 4, true);
  Seconds kernels;
  for (const TimedOperatorOfStep& timed : alone(step).operators)
    if (!timed.what.is_collective()) kernels += timed.time;
  const ClosedFormTime found = closed_form_time(step);
  CHECK(found.kernels.value == near(kernels.value));
  CHECK(found.bubble == 0.0);
  CHECK(found.time >= found.kernels);
  step.step->pipeline = PipelineFacts{.stages = 2, .schedule = "1f1b", .bubble_share = 0.2};
  CHECK(closed_form_time(step).time.value == near(found.time.value / 0.8));
}

}  // namespace c3::workloads_closed_form_test
