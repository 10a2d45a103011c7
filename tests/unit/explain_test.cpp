// Why runs take longer than their kernels: causes that are made impossible, waterfalls, critical paths.

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "tests/support/near.hpp"
#include "tests/support/print_units.hpp"
#include "tests/unit/training_experiments.hpp"
#include "tests/unit/training_setups.hpp"
#include "tests/unit/workloads_pair.hpp"
#include "workloads/analysis/steady_state.hpp"
#include "workloads/analysis/study.hpp"
#include "workloads/explain/changed_family.hpp"
#include "workloads/explain/critical_path.hpp"
#include "workloads/explain/waterfall.hpp"

namespace c3::explain_test {

using namespace test;
using namespace literals;

namespace {

std::vector<std::string> names_of(const std::vector<Cause>& causes) {
  std::vector<std::string> names;
  for (const Cause& cause : causes)
    names.push_back(cause.name());
  return names;
}

Cause cause(CauseKind kind) { return {.kind = kind}; }

Seconds time_without(const Experiment& experiment, const std::vector<Cause>& causes) {
  return explained_run(without(experiment, in_order(), causes), {}, 1).time;
}

/// All runs of \p experiment's waterfall.
WaterfallRuns runs_of(const Experiment& experiment, const std::vector<Cause>& causes) {
  WaterfallRuns runs{.causes = causes, .runs = {}, .work = kernel_work(experiment)};
  for (const CauseOrder& order : cause_orders(causes))
    for (const CauseSet set : sets_along(order))
      if (!runs.runs.contains(set))
        runs.runs.emplace(set, explained_run(without(experiment, in_order(), causes_in(set, causes)), {}, 1));
  return runs;
}

Seconds sum_of(const Waterfall& fall) {
  Seconds sum = fall.at_peak;
  for (const WaterfallPart& part : fall.parts)
    sum += part.time;
  return sum;
}

const WaterfallPart* part_named(const Waterfall& fall, const std::string& name) {
  const auto found = std::ranges::find(fall.parts, name, &WaterfallPart::name);
  return found == fall.parts.end() ? nullptr : &*found;
}

const PathClass& class_named(const CriticalPath& path, const std::string& name) {
  return *std::ranges::find(path.classes, name, &PathClass::name);
}

}  // namespace

TEST_CASE("the queue of work groups goes first, then other interference, then the rest, in two orders") {
  CHECK(cause_orders({}) == std::array<CauseOrder, 2>{});
  CHECK(sets_along({}) == std::vector<CauseSet>{0});
  CHECK(sets_along({2, 0, 1}) == std::vector<CauseSet>{0, 4, 5, 7});
  const auto sharing = [](SharedResource resource) {
    return Cause{.kind = CauseKind::interference, .resource = resource};
  };
  const std::array<CauseOrder, 2> orders =
      cause_orders({cause(CauseKind::communication), cause(CauseKind::hosts), sharing(SharedResource::dispatch),
                    sharing(SharedResource::cus), sharing(SharedResource::hbm)});
  CHECK(orders[0] == CauseOrder{2, 3, 4, 0, 1});
  CHECK(orders[1] == CauseOrder{2, 4, 3, 1, 0});
}

TEST_CASE("interference divides into longer kernels and more time beside them") {
  WaterfallRuns runs{
      .causes = {cause(CauseKind::hosts), {.kind = CauseKind::interference}}, .runs = {}, .work = {}};
  runs.runs[0] = {.time = 20.0_s, .kernels = 14.0_s, .bubble = {}};
  runs.runs[2] = {.time = 17.0_s, .kernels = 13.0_s, .bubble = {}};
  const auto split = interference_split(runs);
  REQUIRE(split);
  CHECK(split->kernels.value == near(1.0));
  CHECK(split->beside.value == near(2.0));
  runs.causes.pop_back();
  CHECK_FALSE(interference_split(runs));
}

TEST_CASE("of causes that interact in pairs, parts are Shapley values and add up") {
  // Alone a cause saves 1, 2 or 4; the first and the last together save 1 more than that.
  const std::vector<Cause> causes = {
      {.kind = CauseKind::communication, .what = "a"}, cause(CauseKind::hosts), cause(CauseKind::power)};
  const auto time_of = [](CauseSet removed) {
    double time = 20.0;
    for (int number = 0; number < 3; ++number)
      if ((removed >> number & 1U) != 0) time -= 1 << number;
    return Seconds{(removed & 5U) == 5U ? time - 1.0 : time};
  };
  WaterfallRuns runs{.causes = causes, .runs = {}, .work = {}};
  for (const CauseSet set : {0U, 1U, 3U, 7U, 4U, 6U})  // from either end
    runs.runs[set] = {.time = time_of(set), .kernels = 10.0_s, .bubble = {}, .classes = {{"norm", 10.0_s, 1}}};
  const Waterfall fall = waterfall_of(runs);
  CHECK(part_named(fall, "communication: a")->time.value == near(1.5));
  CHECK(part_named(fall, "hosts and launches")->time.value == near(2.0));
  CHECK(part_named(fall, "power limit")->time.value == near(4.5));
  CHECK(part_named(fall, "norm")->time.value == near(10.0));
  CHECK(part_named(fall, "waiting for other ranks")->time.value == near(2.0));
  CHECK(sum_of(fall).value == near(20.0));
  CHECK(fall.interaction().value == near(1.0));
  CHECK_FALSE(fall.reached());
}

TEST_CASE(
    "recomputation is what the same run without it saves, and products lose what they take beyond their peak") {
  WaterfallRuns runs{.causes = {cause(CauseKind::hosts)}, .runs = {}, .work = {}};
  runs.runs[0] = {.time = 20.0_s, .kernels = 14.0_s, .bubble = {}};
  runs.runs[1] = {.time = 16.0_s, .kernels = 14.0_s, .bubble = 1.0_s};
  runs.without_recomputation = ExplainedRun{
      .time = 12.0_s, .kernels = 10.0_s, .bubble = 1.5_s, .classes = {{"gemm", 8.0_s, 1}, {"norm", 3.0_s, 1}}};
  runs.work.products = {{.operator_class = "gemm", .at_peak = 5.0_s, .quantized = 6.0_s}};
  runs.model_at_peak = 4.5_s;
  const Waterfall fall = waterfall_of(runs);
  CHECK(part_named(fall, "work beyond the model's")->time.value == near(0.5));
  CHECK(part_named(fall, "gemm: tiles and waves")->time.value == near(1.0));
  CHECK(part_named(fall, "gemm: below peak")->time.value == near(2.0));
  CHECK(part_named(fall, "kernels beside each other")->time.value == near(-1.0));
  CHECK(part_named(fall, "pipeline bubble")->time.value == near(1.5));
  CHECK(part_named(fall, "waiting for other ranks")->time.value == near(0.5));
  CHECK(part_named(fall, "recomputation")->time.value == near(4.0));
  CHECK(part_named(fall, "hosts and launches")->time.value == near(4.0));
  CHECK(sum_of(fall).value == near(20.0));
  CHECK(*fall.reached() == near(4.5 / 20.0));
  CHECK(*fall.reached_before(1) == near(4.5 / 5.0));
}

TEST_CASE("a GEMM beside an all-gather: each cause can be made impossible by itself") {
  const Experiment experiment = pair();
  const std::vector<Cause> causes = causes_of(experiment, in_order());
  REQUIRE(names_of(causes) == std::vector<std::string>{"communication: fsdp", "hosts and launches",
                                                       "interference: dispatch", "interference: CUs",
                                                       "interference: caches", "interference: HBM"});
  const Seconds actual = run_once(experiment, in_order(), {}).time;
  CHECK(time_without(experiment, {}) == actual);
  // Without communication the GEMM is alone; without hosts its launch goes, too.
  const Seconds gemm = run_side(experiment, OperationFilter::kernels).time;
  CHECK(time_without(experiment, {causes[0]}).value == near(gemm.value));
  CHECK(time_without(experiment, {causes[0], causes[1]}).value == near(gemm.value - kLaunch));
  RunSetup apart;
  apart.isolation = Isolation::from_bits(15);  // all but links, which one stream uses
  CHECK(time_without(experiment, {causes[2], causes[3], causes[4], causes[5]}) ==
        run_once(experiment, in_order(), apart).time);
  // With CUs of its own a stream never waits in a queue, so that queues go before CUs.
  CHECK(time_without(experiment, {causes[3]}) == time_without(experiment, {causes[2], causes[3]}));
  const Waterfall fall = waterfall_of(runs_of(experiment, causes));
  CHECK(fall.interaction().value < 0.01 * (fall.time - fall.at_peak).value);
  CHECK(fall.time == actual);
  CHECK(sum_of(fall).value == near(actual.value, 1e-12));
  // 24 x 19 tiles of 256 x 256 x 4,096 on 304 CUs: a CU has 2, the average one 1.5.
  const double flops = 2.0 * 456 * 256 * 256 * 4096;
  const double peak = matrix_rate(experiment.cluster.gpu, DType::bf16).peak.value;
  CHECK(fall.at_peak.value == near(flops / peak));
  CHECK(part_named(fall, "gemm: tiles and waves")->time.value == near(flops / peak / 3.0));
}

TEST_CASE("stragglers, power limits and serial strategies are causes only where there are any") {
  Experiment experiment = pair();
  experiment.cluster.gpu.compute.speed_spread = 0.02;
  CHECK(std::ranges::count(names_of(causes_of(experiment, in_order())), "stragglers") == 1);
  const Seconds slow = time_without(experiment, {}),
                alike = time_without(experiment, {cause(CauseKind::stragglers)});
  CHECK(slow > alike);
  CHECK(alike == time_without(pair(), {}));
  Strategy serial = in_order();
  serial.serial = true;
  CHECK(names_of(causes_of(pair(), serial)) ==
        std::vector<std::string>{"communication: fsdp", "hosts and launches"});
}

TEST_CASE("the least messages cost latency only") {
  const Experiment experiment = pair();
  const std::vector<std::size_t> gather = {1};
  const Experiment least = with_least_bytes(experiment, gather);
  CHECK(run_side(least, OperationFilter::collectives).time.value < 30e-6);
  CHECK(run_side(least, OperationFilter::kernels).time == run_side(experiment, OperationFilter::kernels).time);
}

TEST_CASE("a study writes each size of a step once, whatever it runs of it") {
  int written = 0;
  const auto make = [&](std::optional<std::uint64_t>) {
    Experiment experiment = fluid_step(llama_setup(16), 4, false);
    experiment.strategies = {in_order(), {.name = "again", .order = {}, .streams = {}}};
    experiment.measure.seeds = 2;
    experiment.measure.loss_split = false;
    change_program(experiment, [&](Program&) { ++written; });
    return experiment;
  };
  const StudyResult result = run_study(make);
  CHECK(result.strategies.back().step->is_shortened);
  CHECK(written == 1 + 3);  // the whole, and three sizes
}

TEST_CASE("a shortened step is changed like the whole one, and its waterfall adds up") {
  TrainingSetup setup = gpt_setup();
  setup.model.layers = 12;
  const Experiment step = fluid_step(setup, 4, false);
  const std::vector<Cause> causes = causes_of(step, in_order());
  CHECK(causes.front().name() == "communication: data parallel");
  Counterfactual free = without(step, in_order(), std::vector{causes.front()});
  const RunResult shortened = run_step(free.experiment, free.strategy, {});
  CHECK(shortened.is_shortened);
  free.experiment.measure.estimate = Estimator::none;
  CHECK(shortened.time.value == near(run_step(free.experiment, free.strategy, {}).time.value, 0.01));
  CHECK(shortened.time < run_step(step, in_order(), {}).time);
  WaterfallRuns runs = runs_of(step, causes);
  runs.model_at_peak = step.step->model_at_peak();
  const Waterfall fall = waterfall_of(runs);
  CHECK(sum_of(fall).value == near(fall.time.value, 1e-12));
  CHECK(*fall.reached() == near(*runs.model_at_peak / fall.time));
}

TEST_CASE("a step that offloads has copies for a cause, without which it takes as long as one that does not") {
  const auto step_of = [](std::int64_t offloaded) {
    TrainingSetup setup = llama_setup(6);
    setup.offload.layers = offloaded;
    Experiment step = fluid_step(setup, 1, true);
    step.cluster.node.pcie = {.raw = 1.0_GBps, .one_way = 1.0_GBps, .both_ways = 1.0_GBps, .latency = {}};
    return step;
  };
  const Experiment step = step_of(6);
  const std::vector<Cause> causes = causes_of(step, in_order());
  const auto copies = std::ranges::find_if(
      causes, [](const Cause& cause) { return cause.name() == "communication: host copies"; });
  REQUIRE(copies != causes.end());
  const Counterfactual free = without(step, in_order(), std::vector{*copies});
  const Seconds with_copies = run_step(step, in_order(), {}).time;
  const Seconds freed = run_step(free.experiment, free.strategy, {}).time;
  const Seconds never = run_step(step_of(0), in_order(), {}).time;
  CHECK(with_copies > 1.2 * never);
  CHECK(freed.value == near(never.value, 0.05));
}

TEST_CASE("a critical path goes through what was waited for longest, and the rest has slack") {
  // a 0-3, then b 3-7 on its stream and, 0.5 later, x 3.5-5; c 7-9 waits for both. y 5-6 is waited for by
  // nobody.
  const std::vector<PathNode> nodes = {{"gemm", 0.0_s, 3.0_s},
                                       {"gemm", 3.0_s, 7.0_s, {0}},
                                       {"all_gather", 3.5_s, 5.0_s, {0}},
                                       {"norm", 7.0_s, 9.0_s, {1, 2}},
                                       {"copy", 5.0_s, 6.0_s, {2}}};
  const CriticalPath path = critical_path(nodes);
  CHECK(path.time == 9.0_s);
  CHECK(class_named(path, "gemm").on_path.value == near(7.0));
  CHECK(class_named(path, "gemm").on == 2);
  CHECK(class_named(path, "norm").on_path.value == near(2.0));
  CHECK(class_named(path, "all_gather").on_path == Seconds{});
  CHECK(class_named(path, "all_gather").least_slack.value == near(2.0));
  CHECK(class_named(path, "copy").least_slack.value == near(3.0));
}

TEST_CASE("a meeting begins with its last member, and the path crosses to that rank") {
  // Rank 0 comes at 1 and rank 1 at 4, after a kernel that began 0.5 late; both leave at 6.
  const std::vector<PathNode> nodes = {{"norm", 0.0_s, 1.0_s},
                                       {"gemm", 0.5_s, 4.0_s},
                                       {"all_reduce", 1.0_s, 6.0_s, {0}, 0},
                                       {"all_reduce", 4.0_s, 6.0_s, {1}, 0}};
  const CriticalPath path = critical_path(nodes);
  CHECK(class_named(path, "all_reduce").on_path.value == near(2.0));
  CHECK(class_named(path, "gemm").on_path.value == near(3.5));
  CHECK(class_named(path, "launch").on_path.value == near(0.5));
  CHECK(class_named(path, "norm").least_slack.value == near(3.0));
}

TEST_CASE("a run's critical path adds up to its time") {
  const Experiment experiment = pair();
  const CriticalPath path = critical_path(experiment, in_order(), {});
  Seconds sum;
  for (const PathClass& path_class : path.classes)
    sum += path_class.on_path;
  CHECK(sum.value == near(path.time.value));
  CHECK(path.time == run_once(experiment, in_order(), {}).time);
}

}  // namespace c3::explain_test
