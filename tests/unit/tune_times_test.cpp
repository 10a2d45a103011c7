// The model's lower bound of a run: sums and pipelines by hand, and steps that are simulated.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "tests/support/clusters.hpp"
#include "tests/support/governed_gpu.hpp"
#include "tests/support/near.hpp"
#include "tests/support/print_units.hpp"
#include "tests/unit/training_experiments.hpp"
#include "tests/unit/training_pipelines.hpp"
#include "tests/unit/training_setups.hpp"
#include "tests/unit/workloads_pair.hpp"
#include "workloads/analysis/closed_form_times.hpp"
#include "workloads/analysis/lower_bound.hpp"
#include "workloads/analysis/steady_state.hpp"
#include "workloads/program/program_builder.hpp"
#include "workloads/tune/least_times.hpp"
#include "workloads/tune/linked_ranks.hpp"
#include "workloads/tune/model_times.hpp"
#include "workloads/tune/power_bound.hpp"

namespace c3::tune_times_test {

using namespace test;
using namespace literals;

namespace {

constexpr Seconds kForward{2e-3}, kBackward{4e-3};
const Message kToNext{1, Bytes{1.0}, true}, kFromLast{-1, Bytes{1.0}, false};
const Message kToLast{-1, Bytes{1.0}, true}, kFromNext{1, Bytes{1.0}, false};

ModelTimes model_times(const Experiment& experiment, const Strategy& strategy) {
  return model_times(experiment, std::span(&strategy, 1)).front();
}

Seconds model_bound(const Experiment& experiment, const Strategy& strategy) {
  return model_times(experiment, strategy).bound;
}

Experiment on_gpus(Program program, int ranks) {
  Experiment experiment;
  experiment.cluster = mi300x_like_cluster(ranks);
  experiment.program = std::move(program);
  return experiment;
}

/// All forward passes, then all backward passes, on a rank a stage.
Program all_forward_first(int stages, int micro_batches) {
  ProgramBuilder builder;
  const CommunicatorId over = builder.communicator("pp", {.size = stages, .stride = 1});
  for (int stage = 0; stage < stages; ++stage) {
    builder.begin_script({stage}, "stage " + std::to_string(stage));
    const auto stream = builder.stream("compute");
    const bool is_first = stage == 0, is_last = stage == stages - 1;
    for (int i = 0; i < micro_batches; ++i) {
      if (!is_first) builder.exchange(stream, "from last", {over, {kFromLast}});
      builder.timed(stream, "forward", {.duration = kForward, .read = {}, .written = {}});
      if (!is_last) builder.exchange(stream, "to next", {over, {kToNext}});
    }
    for (int i = 0; i < micro_batches; ++i) {
      if (!is_last) builder.exchange(stream, "from next", {over, {kFromNext}});
      builder.timed(stream, "backward", {.duration = kBackward, .read = {}, .written = {}});
      if (!is_first) builder.exchange(stream, "to last", {over, {kToLast}});
    }
  }
  return builder.take(stages);
}

Seconds simulated(const Experiment& experiment) { return run_step(experiment, in_order(), {}).time; }

}  // namespace

TEST_CASE("operations follow their stream and events, and communication takes no time") {
  // compute: 3 ms, record, 4 ms. other: wait, an all-reduce, 6 ms. The longer is 3 + 6 ms.
  ProgramBuilder builder;
  const auto compute = builder.stream("compute"), other = builder.stream("other");
  const EventId ready = builder.event("ready");
  builder.timed(compute, "a", {.duration = 3.0_ms, .read = {}, .written = {}});
  builder.record(compute, ready);
  builder.timed(compute, "b", {.duration = 4.0_ms, .read = {}, .written = {}});
  builder.wait(other, ready);
  builder.collective(other, "x", {.kind = CollectiveKind::all_reduce, .bytes = Bytes{1e6}});
  builder.timed(other, "c", {.duration = 6.0_ms, .read = {}, .written = {}});
  const Experiment experiment = on_gpus(builder.take(), 4);
  CHECK(model_bound(experiment, in_order()).value == near(9e-3));
  // One stream after the other: 3 + 4 + 6 ms.
  Strategy serial = in_order();
  serial.serial = true;
  CHECK(model_bound(experiment, serial).value == near(13e-3));
}

TEST_CASE("a pipeline's bubble is in the bound: one pass of each kind for every stage but the last") {
  for (const int stages : {2, 4}) {
    for (const int micro_batches : {1, 3}) {
      const Experiment experiment = on_gpus(all_forward_first(stages, micro_batches), stages);
      const double passes = micro_batches + stages - 1;
      CHECK(model_bound(experiment, in_order()).value == near(passes * (kForward + kBackward).value));
    }
  }
}

TEST_CASE("ranks are linked by what they receive, and no more of them than asked for") {
  const Program program = all_forward_first(4, 1);
  CHECK(linked_ranks(program, 0, 16) == std::vector<int>{0, 1, 2, 3});
  CHECK(linked_ranks(program, 0, 2) == std::vector<int>{0, 1});
  // A play of two stages alone does not wait for what the second hears from the third.
  const std::vector<std::vector<std::vector<Seconds>>> lasts = [&] {
    std::vector<std::vector<std::vector<Seconds>>> all;
    for (const Script& script : program.scripts) {
      std::vector<Seconds>& durations = all.emplace_back().emplace_back();
      for (const Operation& operation : script.streams.front()) {
        const auto* timed = std::get_if<TimedKernel>(&operation.work);
        durations.push_back(timed == nullptr ? Seconds{} : timed->duration);
      }
    }
    return all;
  }();
  CHECK(LinkedPlay(program, {0, 1}).time(lasts).value == near(2 * (kForward + kBackward).value));
  CHECK(LinkedPlay(program, {0, 1, 2, 3}).time(lasts).value == near(4 * (kForward + kBackward).value));
  // Six messages one after another: three forward, three back.
  const LinkedPlay slow(program, {0, 1, 2, 3}, [](Bytes, int, int) { return 1.0_ms; });
  CHECK(slow.time(lasts).value == near(4 * (kForward + kBackward).value + 6e-3));
  CHECK(slow.time_without_messages(lasts).value == near(4 * (kForward + kBackward).value));
}

TEST_CASE("ranks that wait for one another in a circle end the bound, not the search") {
  ProgramBuilder builder;
  const auto stream = builder.stream("s");
  const CommunicatorId over = builder.communicator("ring", {.size = 2, .stride = 1});
  builder.timed(stream, "a", {.duration = 1.0_ms, .read = {}, .written = {}});
  builder.exchange(stream, "hear", {over, {kFromLast}});
  builder.exchange(stream, "say", {over, {kToNext}});
  builder.timed(stream, "b", {.duration = 1.0_ms, .read = {}, .written = {}});
  const Program program = builder.take(2);
  CHECK(LinkedPlay(program, linked_ranks(program, 0, 8)).time({{{1.0_ms, {}, {}, 1.0_ms}}}).value ==
        near(1e-3));
}

TEST_CASE("no simulated step is faster than its bound, which has most of it and more than hardware's") {
  const std::vector<Experiment> steps = {
      fluid_step(gpt_setup(), 1, true),
      fluid_step(llama_setup(4), 4, true),
      fluid_step(pipelined(llama_setup(4), 2, 4), 4, true),
      fluid_step(pipelined(llama_setup(4), 2, 4, ScheduleKind::gpipe), 2, true),
      fluid_step(pipelined(llama_setup(8), 2, 4, ScheduleKind::interleaved), 2, true),
      fluid_step(pipelined(llama_setup(8), 2, 4, ScheduleKind::zb_h1), 2, true)};
  for (const Experiment& step : steps) {
    const Seconds bound = model_bound(step, in_order()), time = simulated(step);
    CAPTURE(bound / time);
    CHECK(bound <= time);
    CHECK(bound > lower_bound(step).together());
    CHECK(bound > 0.4 * time);
  }
}

TEST_CASE("an estimate has what the bound has and communication, and is near the simulated time") {
  const std::vector<Experiment> steps = {
      fluid_step(gpt_setup(), 4, true), fluid_step(llama_setup(4), 4, true),
      fluid_step(pipelined(llama_setup(4), 2, 4), 4, true),
      fluid_step(pipelined(llama_setup(8), 2, 4, ScheduleKind::interleaved), 2, true)};
  for (const Experiment& step : steps) {
    const ModelTimes times = model_times(step, in_order());
    const Seconds time = simulated(step);
    CAPTURE(times.estimate / time);
    CHECK(times.bound.value == near(model_bound(step, in_order()).value));
    CHECK(times.estimate > times.bound);
    CHECK(times.estimate > 0.7 * time);
    CHECK(times.estimate < 1.3 * time);
  }
}

TEST_CASE("in an estimate collectives last, messages travel, and CUs that a strategy takes are missing") {
  // 3 ms, then an all-reduce whose 1.5 of 1e9 B leave each of four ranks over three links.
  ProgramBuilder builder;
  const auto compute = builder.stream("compute");
  builder.timed(compute, "a", {.duration = 3.0_ms, .read = {}, .written = {}});
  builder.collective(compute, "x", {.kind = CollectiveKind::all_reduce, .bytes = Bytes{1e9}});
  Experiment experiment = on_gpus(builder.take(), 4);
  experiment.cluster.library.rules = TunerRules::rccl;
  const CollectiveCall& call = experiment.program.calls.front().what;
  const Seconds alone = time_at_rates(call, experiment.cluster);
  CHECK(alone.value == near(1.5e9 / (3.0 * experiment.cluster.library.link_payload.value)));
  CHECK(model_times(experiment, in_order()).estimate.value == near(3e-3 + alone.value));
  // On two channels it takes what they carry.
  Strategy narrow = in_order();
  narrow.streams["compute"].method.channels.most = 2;
  const double rate = 2.0 * experiment.cluster.library.simple.channel_rate.value;
  CHECK(model_times(experiment, narrow).estimate.value == near(3e-3 + 1.5e9 / rate));

  Experiment step = fluid_step(gpt_setup(), 1, true);
  step.program.scripts.front().host.reset();  // whose launches take longest
  Strategy divided = in_order();
  divided.streams[step.program.streams.front()].reserve_cus = step.cluster.gpu.compute.cus() - 8;
  const Seconds whole = model_times(step, in_order()).estimate, few = model_times(step, divided).estimate;
  CHECK(few > 1.3 * whole);
  CHECK(model_times(step, divided).bound == model_times(step, in_order()).bound);
}

TEST_CASE("each of several strategies has the times that it has by itself") {
  Experiment step = fluid_step(llama_setup(4), 4, false);
  Strategy serial = in_order();
  serial.serial = true;
  Strategy divided = in_order();
  divided.streams["compute"].reserve_cus = step.cluster.gpu.compute.cus() - 8;
  step.strategies = {in_order(), serial, divided};
  const std::vector<ModelTimes> all = model_times(step, step.strategies);
  REQUIRE(all.size() == 3);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const ModelTimes one_by_one = model_times(step, step.strategies[i]);
    CHECK(all[i].bound == one_by_one.bound);
    CHECK(all[i].estimate == one_by_one.estimate);
    CHECK(all[i].bound == model_bound(step, step.strategies[i]));
  }
  CHECK(all[1].bound > all[0].bound);
  CHECK(all[2].estimate > all[0].estimate);
}

TEST_CASE("in an estimate a pipeline's messages travel, and hosts take the time of their launches") {
  // Two stages of a micro-batch: forward, its message, forward, backward, its message, backward.
  Program program = all_forward_first(2, 1);
  for (Script& script : program.scripts) {
    for (Operation& operation : script.streams.front())
      if (auto* exchange = std::get_if<Exchange>(&operation.work))
        exchange->messages.front().bytes = Bytes{1e8};
  }
  Experiment experiment = on_gpus(std::move(program), 2);
  const double message = 1e8 / rate_in_node(1, experiment.cluster).value;
  const double expected = 2.0 * ((kForward + kBackward).value + message);
  CHECK(model_times(experiment, in_order()).estimate.value == near(expected));
  // A host that needs a second for two of its steps.
  HostProgram host;
  host.threads.push_back({.steps = {{.cost = Seconds{0.4}}, {.cost = Seconds{0.6}}}, .name = 0});
  experiment.program.scripts.back().host = host;
  CHECK(model_times(experiment, in_order()).estimate.value == near(1.0));
  CHECK(model_times(experiment, in_order()).bound.value == near(2.0 * (kForward + kBackward).value));
}

TEST_CASE("a pair on a full mesh has one link, what leaves a node goes by its NICs") {
  const ClusterSpec mesh = mi300x_like_cluster(8);
  CHECK(rate_in_node(7, mesh).value == near(7.0 * rate_in_node(1, mesh).value));
  ClusterSpec nodes = nodes_of(NodeTopology::full_mesh, 2, 8);
  nodes.library.link_payload = BytesPerSecond{1e15};
  CollectiveCall call{.kind = CollectiveKind::all_gather, .bytes = Bytes{16e9}};
  // 15 GB leave each rank; by a ring those of a node leave it once, over eight NICs.
  const double nic = rate_between_nodes(nodes).value;
  CHECK(time_at_rates(call, nodes).value == near(15e9 / 8.0 / nic));
  // Pairs: 8 of 15 shares leave the node, by each rank's own NIC.
  call.kind = CollectiveKind::all_to_all;
  CHECK(time_at_rates(call, nodes).value == near(8e9 / nic));
}

TEST_CASE("cohorts may be faster than their closed form, so that their bound is lower") {
  Experiment step = fluid_step(gpt_setup(), 1, true);
  const Seconds exact = model_bound(step, in_order());
  step.measure.kernel_grain = step.measure.vector_grain = KernelGrain::cohort;
  CHECK(model_bound(step, in_order()).value == near((1.0 - kCohortMargin) * exact.value));
  CHECK(model_bound(step, in_order()) <= simulated(step));
}

TEST_CASE("kernels of a fused collective store less than alone: only the bound of hardware holds") {
  const Experiment experiment = pair(gemm_of_tiles(24, 19, 1 << 18));
  Strategy fused = in_order();
  fused.streams["fsdp"].backend = Backend::fused;
  CHECK(model_bound(experiment, fused) == lower_bound(experiment, fused).together());
  CHECK(model_bound(experiment, in_order()) > lower_bound(experiment, in_order()).together());
}

TEST_CASE(
    "a stream of one product that exceeds the power limit is as slow as the closed form of a sustained one") {
  const GpuSpec gpu = governed_gpu();
  // 1,300 W at boost: the energy of its products in 1 s beside 100 W idle.
  const PowerLoad load{Seconds{1.0}, Joules{1200.0}};
  const Seconds slowed{std::sqrt(1300.0 / ((1.0 + kPowerMargin) * 600.0))};
  CHECK(power_bound(gpu, {load}, {}).value == near(slowed.value));
  CHECK(power_bound(gpu, {load, load, load}, {}).value == near(3.0 * slowed.value));
  // 400 W: below the limit, at boost clock. So are 1,300 W for a third of the time.
  CHECK(power_bound(gpu, {{Seconds{1.0}, Joules{300.0}}}, Seconds{0.5}).value == near(1.5));
  CHECK(power_bound(gpu, {load}, Seconds{2.0}).value == near(3.0));
  CHECK(power_bound(gpu, {}, Seconds{2.0}).value == near(2.0));
}

TEST_CASE("of loads and pauses no clock does better than the power bound") {
  const GpuSpec gpu = governed_gpu();
  const std::vector<PowerLoad> loads = {{Seconds{1.0}, Joules{1200.0}}, {Seconds{0.5}, Joules{200.0}}};
  const double bound = power_bound(gpu, loads, Seconds{0.2}).value;
  double least = 1e9;
  for (double first = 0.3; first <= 1.0; first += 0.001) {
    for (double second = 0.3; second <= 1.0; second += 0.01) {
      const double time = 1.0 / first + 0.5 / second + 0.2;
      const double energy = 1300.0 * first * first * (1.0 / first) + 500.0 * second * second * (0.5 / second);
      if (energy <= (1.0 + kPowerMargin) * 600.0 * time) least = std::min(least, time);
    }
  }
  CHECK(bound <= least);
  CHECK(bound > 0.97 * least);
}

TEST_CASE("a hot step is bound by its power, and no faster when it is simulated") {
  Experiment step = fluid_step(gpt_setup(), 1, true);
  const Seconds cool = model_bound(step, in_order());
  step.cluster.gpu.governor = round_governor();
  step.cluster.gpu.governor.limit = step.cluster.gpu.governor.board = Watts{200};
  step.cluster.gpu.governor.flop_pj = 400.0;  // of products that are too small for a GPU
  step.cluster.gpu.governor.burst = 100.0;
  step.cluster.gpu.governor.averaging = 1.0_ms;
  const Seconds hot = model_bound(step, in_order());
  CHECK(hot > cool);
  CHECK(hot <= simulated(step));
  step.cluster.gpu.governor.state = ClockState::burst;
  CHECK(model_bound(step, in_order()) < hot);
}

TEST_CASE("an estimate of a hot step has kernels that the power limit slows") {
  Experiment step = fluid_step(gpt_setup(), 1, true);
  step.program.scripts.front().host.reset();
  const Seconds cool = model_times(step, in_order()).estimate;
  step.cluster.gpu.governor = round_governor();
  step.cluster.gpu.governor.limit = step.cluster.gpu.governor.board = Watts{200};
  step.cluster.gpu.governor.flop_pj = 400.0;
  const ModelTimes hot = model_times(step, in_order());
  CHECK(hot.estimate > cool);
  CHECK(hot.estimate.value >= hot.bound.value * (1 - 1e-12));
}

}  // namespace c3::tune_times_test
