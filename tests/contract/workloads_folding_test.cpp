// One rank of each class for all of them: what must not change, what may, and by how much.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "tests/support/near.hpp"
#include "tests/support/random_programs.hpp"
#include "workloads/execute/launch_skew.hpp"
#include "workloads/execute/run.hpp"
#include "workloads/program/rank_classes.hpp"

using namespace c3;
using namespace c3::literals;
using namespace c3::test;

namespace {

const Strategy kStrategy{.name = "s", .order = {}, .streams = {}};

Experiment experiment_of(ClusterSpec cluster, Program program) {
  Experiment experiment;
  experiment.name = "folding";
  experiment.cluster = std::move(cluster);
  experiment.program = std::move(program);
  return experiment;
}

RunResult run(Experiment experiment, Fold fold, const Strategy& strategy = kStrategy) {
  experiment.measure.fold = fold;
  return run_once(experiment, strategy, {});
}

double factor(const RunResult& result, const Experiment& experiment) {
  return static_cast<double>(experiment.cluster.ranks()) / static_cast<double>(result.classes.size());
}

CollectiveCall call(CollectiveKind kind, Bytes bytes, std::optional<RankGroups> groups = std::nullopt) {
  return {.kind = kind, .bytes = bytes, .groups = groups};
}

/// Whether every rank is as busy as the one that stands for it.
void check_activity(const RunResult& explicit_run, const RunResult& folded, Seconds difference) {
  for (const SimulatedClass& its : folded.classes) {
    for (const auto& [begin, end] : its.ranks) {
      for (int rank = begin; rank < end; ++rank) {
        CAPTURE(rank);
        const StepBreakdown& times = explicit_run.classes[static_cast<std::size_t>(rank)].times;
        CHECK(std::abs((times.kernels - its.times.kernels).value) <= difference.value);
        CHECK(std::abs((times.communication - its.times.communication).value) <= difference.value);
        CHECK(std::abs((times.exposed - its.times.exposed).value) <= difference.value);
      }
    }
  }
}

/// By how much \p mean may differ: the spread of what it averages and, as flows of edges show the latency of
/// one step more or less of it than those of classes do, that of each call.
double tolerance(const Experiment& experiment, const RunResult& explicit_run, const RunResult& mean) {
  const double step = experiment.cluster.library.simple.hop_latency / explicit_run.time;
  return std::max(3e-3, mean.inequity) + step * static_cast<double>(experiment.program.calls.size());
}

/// Exact folding changes nothing, folding by the mean no more than the spread of what it averages.
void check_folded(const Experiment& experiment, const RunResult& explicit_run, const RunResult& mean,
                  const Strategy& strategy = kStrategy) {
  CHECK(explicit_run.classes.size() == static_cast<std::size_t>(experiment.cluster.ranks()));
  const RunResult exact = run(experiment, Fold::exact, strategy);
  CHECK(exact.time.value == near(explicit_run.time.value, 1e-9));
  check_activity(explicit_run, exact, 1e-9 * explicit_run.time + 2e-12_s);
  const double spread = tolerance(experiment, explicit_run, mean);
  CHECK(std::abs(mean.time / explicit_run.time - 1.0) <= spread);
  check_activity(explicit_run, mean, spread * explicit_run.time);
  int ranks = 0;
  for (const SimulatedClass& its : mean.classes)
    ranks += its.multiplicity();
  CHECK(ranks == experiment.cluster.ranks());
}

}  // namespace

TEST_CASE("a hundred programs in which all ranks do the same fold at least four times, and take as long") {
  double least = 1e9, sum = 0.0;
  for (std::uint32_t seed = 0; seed < 100; ++seed) {
    CAPTURE(seed);
    RandomPrograms random(seed);
    const ClusterSpec cluster = random.cluster();
    const Experiment experiment =
        experiment_of(cluster, program_of(random.symmetric(cluster), cluster.ranks()));
    const RunResult mean = run(experiment, Fold::mean);
    const double times = factor(mean, experiment);
    CHECK(times >= 4.0);
    least = std::min(least, times);
    sum += times;
    check_folded(experiment, run(experiment, Fold::none), mean);
  }
  MESSAGE("folded " << least << " times at least, " << sum / 100.0 << " times in the mean");
}

TEST_CASE("a hundred programs in which nodes hand on what they make fold, and take as long") {
  for (std::uint32_t seed = 1000; seed < 1100; ++seed) {
    CAPTURE(seed);
    RandomPrograms random(seed);
    const ClusterSpec cluster = random.cluster();
    const Experiment experiment = experiment_of(cluster, random.stages(cluster));
    const RunResult mean = run(experiment, Fold::mean);
    CHECK(factor(mean, experiment) == 8.0);
    check_folded(experiment, run(experiment, Fold::none), mean);
  }
}

TEST_CASE("a hundred pipelines with slow ranks take as long, though ranks of a class send to unlike ones") {
  int merged = 0;
  double sum = 0.0;
  for (std::uint32_t seed = 5000; seed < 5100; ++seed) {
    CAPTURE(seed);
    RandomPrograms random(seed);
    const ClusterSpec cluster = random.cluster();
    const Experiment experiment = experiment_of(cluster, random.pipeline(cluster));
    const RunResult mean = run(experiment, Fold::mean);
    const int met = rank_classes(experiment.program, cluster.ranks(), cluster.node.gpus).classes();
    CHECK(std::ssize(mean.classes) <= met);
    merged += std::ssize(mean.classes) < met ? 1 : 0;
    sum += factor(mean, experiment);
    CHECK(mean.inequity == 0.0);
    const RunResult all = run(experiment, Fold::none);
    CHECK(mean.time.value == near(all.time.value, 1e-9));
    check_activity(all, mean, 1e-9 * all.time + 2e-12_s);
    check_folded(experiment, all, mean);
  }
  CHECK(merged > 50);
  CHECK(merged < 95);
  MESSAGE(merged << " have fewer classes than by whom ranks meet; folded " << sum / 100.0
                 << " times in the mean");
}

TEST_CASE("a hundred programs whose small messages wait in buffers take as long, folded or not") {
  for (std::uint32_t seed = 7000; seed < 7100; ++seed) {
    CAPTURE(seed);
    RandomPrograms random(seed);
    ClusterSpec cluster = random.cluster();
    cluster.library.pair_buffer = 4.0_MiB;  // of messages from 64 KiB to 128 MiB
    const Experiment experiment =
        experiment_of(cluster, seed % 2 == 0 ? random.stages(cluster) : random.pipeline(cluster));
    const RunResult mean = run(experiment, Fold::mean);
    CHECK(factor(mean, experiment) > 1.0);
    check_folded(experiment, run(experiment, Fold::none), mean);
  }
}

/// By how much the ranks of a class launch before the last of them, at most.
Seconds spread_of_launches(const Experiment& experiment, const RunResult& result) {
  const std::vector<Seconds> launches = launch_delays(
      experiment.cluster.gpu.host.launch_skew, experiment.cluster.ranks(), experiment.measure.seed << 20U);
  Seconds spread;
  for (const SimulatedClass& its : result.classes) {
    Seconds first{1e9}, last;
    for (const auto& [begin, end] : its.ranks) {
      for (int rank = begin; rank < end; ++rank) {
        first = std::min(first, launches[static_cast<std::size_t>(rank)]);
        last = std::max(last, launches[static_cast<std::size_t>(rank)]);
      }
    }
    spread = std::max(spread, last - first);
  }
  return spread;
}

TEST_CASE("two hundred programs of stages and of all-to-alls with unlike sizes take as long, folded or not") {
  double sum = 0.0;
  int folded = 0, averaged = 0;
  for (std::uint32_t seed = 6000; seed < 6200; ++seed) {
    CAPTURE(seed);
    RandomPrograms random(seed);
    Experiment experiment = experiment_of(random.cluster(), {});
    experiment.program = random.mixed(experiment.cluster);
    const RunResult mean = run(experiment, Fold::mean);
    const RunResult all = run(experiment, Fold::none);
    check_folded(experiment, all, mean);
    sum += factor(mean, experiment);
    folded += factor(mean, experiment) > 1.0 ? 1 : 0;
    averaged += mean.inequity > 0.0 ? 1 : 0;
    // Hosts that are late by chance: a class launches with the last of its ranks, so that nothing ends earlier.
    experiment.cluster.gpu.host.launch_skew = 20.0_us;
    const RunResult late = run(experiment, Fold::none), late_mean = run(experiment, Fold::mean);
    const Seconds rounding = tolerance(experiment, late, late_mean) * late.time;
    CHECK(late_mean.time.value >= (late.time - rounding).value);
    CHECK(late_mean.time.value <= (late.time + spread_of_launches(experiment, late_mean) + rounding).value);
  }
  CHECK(folded > 150);
  MESSAGE(folded << " folded, " << averaged << " average loads; folded " << sum / 200.0
                 << " times in the mean");
}

TEST_CASE("a hundred programs of which some ranks do more take as long, folded or not") {
  double sum = 0.0;
  for (std::uint32_t seed = 2000; seed < 2100; ++seed) {
    CAPTURE(seed);
    RandomPrograms random(seed);
    const ClusterSpec cluster = random.cluster();
    const Experiment experiment = experiment_of(cluster, program_of(random.uneven(cluster), cluster.ranks()));
    const RunResult mean = run(experiment, Fold::mean);
    sum += factor(mean, experiment);
    check_folded(experiment, run(experiment, Fold::none), mean);
  }
  MESSAGE("folded " << sum / 100.0 << " times in the mean");
}

TEST_CASE("a hundred programs on clusters with stragglers take as long, folded or not") {
  double sum = 0.0;
  for (std::uint32_t seed = 4000; seed < 4100; ++seed) {
    CAPTURE(seed);
    RandomPrograms random(seed);
    ClusterSpec cluster = random.cluster();
    cluster.stragglers = random.stragglers(cluster);
    const Experiment experiment =
        seed % 2 == 0 ? experiment_of(cluster, program_of(random.symmetric(cluster), cluster.ranks()))
                      : experiment_of(cluster, random.stages(cluster));
    const RunResult mean = run(experiment, Fold::mean);
    sum += factor(mean, experiment);
    check_folded(experiment, run(experiment, Fold::none), mean);
  }
  MESSAGE("folded " << sum / 100.0 << " times in the mean");
}

namespace {

Seconds median_time(Experiment experiment, Fold fold, int seeds) {
  experiment.measure.fold = fold;
  std::vector<Seconds> times;
  for (int seed = 0; seed < seeds; ++seed) {
    RunSetup setup;
    setup.seed = static_cast<std::uint64_t>(seed);
    times.push_back(run_once(experiment, kStrategy, setup).time);
  }
  std::ranges::nth_element(times, times.begin() + seeds / 2);
  return times[static_cast<std::size_t>(seeds / 2)];
}

}  // namespace

TEST_CASE(
    "beside products that share CUs, HBM and the clock, medians over 32 seeds are the same, folded or not") {
  for (const bool mesh : {false, true}) {
    for (const bool hot : {false, true}) {
      for (const CollectiveKind kind : {CollectiveKind::all_gather, CollectiveKind::all_to_all}) {
        CAPTURE(mesh);
        CAPTURE(hot);
        CAPTURE(name_of(kind));
        ClusterSpec cluster = nodes_of_eight(2, mesh, one_switch(8));
        cluster.gpu.dispatch.work_group_spread = 0.02;
        cluster.library.clock_share = 1.0;
        if (hot) cluster.stragglers = {{"hot", {3}, {.factor = 1.3}}};
        const Operator product(GemmShape{.m = 4096, .n = 8192, .k = 4096});
        const std::vector<WrittenStream> streams{
            {"compute", {{"first", product}, {"second", product}}},
            {"talk", {{"one", call(kind, 32.0_MiB)}, {"two", call(kind, 32.0_MiB)}}}};
        const Experiment experiment = experiment_of(cluster, program_of(streams, cluster.ranks()));
        const Seconds all = median_time(experiment, Fold::none, 32);
        CHECK(median_time(experiment, Fold::mean, 32).value == near(all.value, 3e-3));
      }
    }
  }
}

namespace {

/// What looks alike on all ranks and is not.
struct Trap {
  std::string name;
  ClusterSpec cluster;
  Program program;
  Strategy strategy = kStrategy;
};

Program calls_of(const ClusterSpec& cluster, const std::vector<CollectiveCall>& calls,
                 const std::vector<int>& slow = {}) {
  std::vector<WrittenOperation> operations{{"work", TimedKernel{.duration = 20.0_us}}};
  if (!slow.empty()) operations.push_back({"extra", TimedKernel{.duration = 50.0_us}, slow});
  for (const CollectiveCall& call : calls)
    operations.push_back({std::string(name_of(call.kind)), call});
  return program_of({{"s", operations}}, cluster.ranks());
}

FabricSpec tree_with(int nics, int leaf_nics, double oversubscription, FabricRouting routing) {
  FabricSpec fabric = tree_of(FabricTopology::fat_tree, leaf_nics, oversubscription);
  fabric.nics_per_node = nics;
  fabric.routing = routing;
  return fabric;
}

Program ring_of_messages(const ClusterSpec& cluster, bool together) {
  const Message give{1, 4.0_MiB, true}, take{-1, 4.0_MiB, false};
  std::vector<WrittenOperation> operations;
  if (together) operations = {{"both", WrittenExchange{"all", {give, take}}}};
  std::vector<int> all(static_cast<std::size_t>(cluster.ranks()));
  std::iota(all.begin(), all.end(), 0);
  return program_of({{"", all, {{"s", operations}}}}, {{"all", RankGroups{cluster.ranks(), 1}}},
                    cluster.ranks());
}

std::vector<Trap> traps() {
  std::vector<Trap> traps;
  const auto add = [&](std::string name, ClusterSpec cluster, const std::vector<CollectiveCall>& calls,
                       const std::vector<int>& slow = {}) {
    Program program = calls_of(cluster, calls, slow);
    traps.push_back({std::move(name), std::move(cluster), std::move(program)});
  };
  for (const bool mesh : {false, true}) {
    const auto nodes = [&](int count, FabricSpec fabric) {
      return nodes_of_eight(count, mesh, std::move(fabric));
    };
    for (const int root : {0, 3, 9, 31})
      add("root", nodes(4, one_switch(8)), {[&] {
            CollectiveCall its = call(CollectiveKind::broadcast, 8.0_MiB);
            its.root = root;
            return its;
          }()});
    add("tree", nodes(4, one_switch(8)), {call(CollectiveKind::all_reduce, 512.0_KiB)});
    StreamPolicy by_tree;
    by_tree.method.algorithm = Algorithm::tree;
    traps.back().strategy.streams.emplace("s", by_tree);
    add("leaf of one node and a half", nodes(3, tree_with(8, 16, 16.0, FabricRouting::adaptive)),
        {call(CollectiveKind::send_receive, 32.0_MiB)});
    add("border of a leaf", nodes(4, tree_with(8, 16, 16.0, FabricRouting::adaptive)),
        {call(CollectiveKind::all_gather, 32.0_MiB)});
    add("hash", nodes(4, tree_with(8, 8, 1.0, FabricRouting::ecmp)),
        {call(CollectiveKind::all_gather, 32.0_MiB)});
    add("straggler among four", nodes(2, one_switch(8)),
        {call(CollectiveKind::all_reduce, 8.0_MiB, RankGroups{4, 1}),
         call(CollectiveKind::all_gather, 8.0_MiB)},
        {5});
    add("straggler among nodes", nodes(4, one_switch(8)),
        {call(CollectiveKind::all_reduce, 8.0_MiB, RankGroups{4, 8})}, {0, 17});
    add("three NICs for eight GPUs", nodes(2, one_switch(3)), {call(CollectiveKind::all_gather, 32.0_MiB)});
    add("six NICs for eight GPUs", nodes(4, one_switch(6)),
        {call(CollectiveKind::all_to_all, 32.0_MiB), call(CollectiveKind::send_receive, 8.0_MiB)});
    add("groups across nodes", nodes(3, one_switch(8)),
        {call(CollectiveKind::all_gather, 8.0_MiB, RankGroups{6, 1})});
    CollectiveCall in_turn = call(CollectiveKind::send_receive, 8.0_MiB);
    in_turn.ranks = {0, 8, 1, 9, 2, 10, 3, 11};
    add("every second on another node", nodes(2, one_switch(8)), {in_turn});
    const ClusterSpec two = nodes(2, one_switch(8));
    traps.push_back(
        {"ranks of a class that send to each other", two, ring_of_messages(two, /*together=*/true)});
  }
  return traps;
}

}  // namespace

TEST_CASE("thirty programs that look alike on all ranks split, say what they average, or are not folded") {
  const std::vector<Trap> all = traps();
  CHECK(all.size() >= 30);
  for (const Trap& trap : all) {
    CAPTURE(trap.name);
    const Experiment experiment = experiment_of(trap.cluster, trap.program);
    const RunResult mean = run(experiment, Fold::mean, trap.strategy);
    const bool is_split = mean.classes.size() > 1;
    CHECK((is_split || mean.inequity > 0.0));
    REQUIRE(mean.estimate.has_value() == (mean.inequity > 0.0));
    if (mean.estimate) CHECK(mean.estimate->high / mean.time == near(1.0 + mean.inequity, 1e-9));
    if (mean.estimate) CHECK(mean.time / mean.estimate->low == near(1.0 + mean.inequity, 1e-9));
    check_folded(experiment, run(experiment, Fold::none, trap.strategy), mean, trap.strategy);
  }
}

/// Mean of the largest of \p count values of |z|, z standard normal, less that of the smallest; none is
/// beyond 3.
double expected_spread(int count) {
  constexpr double kMost = 3.0, kStep = 1e-4;
  double spread = 0.0;
  for (double x = 0.5 * kStep; x < kMost; x += kStep) {
    const double below = std::erf(x / std::sqrt(2.0));
    spread += kStep * (1.0 - std::pow(below, count) - std::pow(1.0 - below, count));
  }
  return spread;
}

TEST_CASE("ranks that launch late by chance delay a step by the latest of them, folded or not") {
  constexpr int kSeeds = 64;
  const Seconds skew = 50.0_us;
  ClusterSpec cluster = nodes_of_eight(4, false, one_switch(8));
  const CollectiveCall sum{.kind = CollectiveKind::all_reduce, .bytes = 8.0_MiB};
  const std::vector<WrittenStream> streams{
      {"s", {{"work", TimedKernel{.duration = 1.0_ms, .read = {}, .written = {}}}, {"sum", sum}}}};
  const Program program = program_of(streams, cluster.ranks());
  const Seconds punctual = run(experiment_of(cluster, program), Fold::none).time;
  cluster.gpu.host.launch_skew = skew;
  Experiment late = experiment_of(cluster, program);
  Seconds mean;
  for (int seed = 0; seed < kSeeds; ++seed) {
    CAPTURE(seed);
    RunSetup setup;
    setup.seed = static_cast<std::uint64_t>(seed);
    late.measure.fold = Fold::none;
    const Seconds all = run_once(late, kStrategy, setup).time;
    late.measure.fold = Fold::mean;
    CHECK(run_once(late, kStrategy, setup).time.value == near(all.value, 3e-3));
    mean += all / kSeeds;
  }
  const Seconds expected = punctual + expected_spread(cluster.ranks()) * skew;
  MESSAGE("mean of ", kSeeds, " seeds: ", mean / 1.0_us, " us, expected ", expected / 1.0_us, " us");
  CHECK(mean.value == near(expected.value, 5e-3));
}

TEST_CASE("whatever is folded, numbering nodes otherwise changes nothing") {
  for (std::uint32_t seed = 3000; seed < 3020; ++seed) {
    CAPTURE(seed);
    RandomPrograms random(seed);
    const ClusterSpec cluster = random.cluster();
    const auto time_of = [&](int first) {
      const std::vector<int> slow{first, first + 2};
      const CollectiveCall sum{
          .kind = CollectiveKind::all_reduce, .bytes = 8.0_MiB, .groups = RankGroups{8, 1}};
      const CollectiveCall gather{
          .kind = CollectiveKind::all_gather, .bytes = 8.0_MiB, .groups = RankGroups{cluster.nodes, 8}};
      return run(experiment_of(cluster, calls_of(cluster, {sum, gather}, slow)), Fold::mean);
    };
    const RunResult first = time_of(0), last = time_of(8 * (cluster.nodes - 1));
    CHECK(first.time.value == near(last.time.value, 1e-9));
    CHECK(first.classes.size() == last.classes.size());
    CHECK(first.classes.size() > 1);
  }
}
