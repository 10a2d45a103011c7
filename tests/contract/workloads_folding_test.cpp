// One rank of each class for all of them: what must not change, what may, and by how much.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "tests/support/folded_runs.hpp"
#include "tests/support/random_programs.hpp"
#include "tests/support/seeds.hpp"
#include "workloads/execute/launch_skew.hpp"
#include "workloads/program/rank_classes.hpp"

namespace c3::workloads_folding_test {

using namespace literals;
using namespace test;

TEST_CASE("a hundred programs in which all ranks do the same fold at least four times, and take as long") {
  double least = 1e9, sum = 0.0;
  for (std::uint32_t seed = 0; seed < seeds(100); ++seed) {
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
  MESSAGE("folded " << least << " times at least, " << sum / seeds(100) << " times in the mean");
}

TEST_CASE("a hundred programs in which nodes hand on what they make fold, and take as long") {
  for (std::uint32_t seed = 1000; seed < 1000 + seeds(100); ++seed) {
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
  for (std::uint32_t seed = 5000; seed < 5000 + seeds(100); ++seed) {
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
  CHECK(merged > 0.5 * seeds(100));
  CHECK(merged < 0.95 * seeds(100));
  MESSAGE(merged << " have fewer classes than by whom ranks meet; folded " << sum / seeds(100)
                 << " times in the mean");
}

TEST_CASE("a hundred programs whose small messages wait in buffers take as long, folded or not") {
  for (std::uint32_t seed = 7000; seed < 7000 + seeds(100); ++seed) {
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

/// The longest time by which a rank of a class launches before the last one of it.
Seconds spread_of_launches(const Experiment& experiment, const RunResult& result) {
  const std::vector<Seconds> launches = launch_delays(
      experiment.cluster.gpu.host.launch_skew, experiment.cluster.ranks(), experiment.measure.seed << 20U);
  Seconds spread;
  for (const SimulatedClass& rank_class : result.classes) {
    Seconds first{1e9}, last;
    for (const auto& [begin, end] : rank_class.ranks) {
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
  for (std::uint32_t seed = 6000; seed < 6000 + seeds(200); ++seed) {
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
  CHECK(folded > 0.75 * seeds(200));
  MESSAGE(folded << " folded, " << averaged << " average loads; folded " << sum / seeds(200)
                 << " times in the mean");
}

TEST_CASE("a hundred programs of which some ranks do more take as long, folded or not") {
  double sum = 0.0;
  for (std::uint32_t seed = 2000; seed < 2000 + seeds(100); ++seed) {
    CAPTURE(seed);
    RandomPrograms random(seed);
    const ClusterSpec cluster = random.cluster();
    const Experiment experiment = experiment_of(cluster, program_of(random.uneven(cluster), cluster.ranks()));
    const RunResult mean = run(experiment, Fold::mean);
    sum += factor(mean, experiment);
    check_folded(experiment, run(experiment, Fold::none), mean);
  }
  MESSAGE("folded " << sum / seeds(100) << " times in the mean");
}

TEST_CASE("a hundred programs on clusters with stragglers take as long, folded or not") {
  double sum = 0.0;
  for (std::uint32_t seed = 4000; seed < 4000 + seeds(100); ++seed) {
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
  MESSAGE("folded " << sum / seeds(100) << " times in the mean");
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

TEST_CASE("engines that copy within nodes fold over several nodes, beside channels between them") {
  ClusterSpec cluster = nodes_of_eight(4, false, one_switch(8));
  const RankGroups within{.size = 8, .stride = 1};
  const std::vector<WrittenStream> streams{
      {"copies",
       {{"gather", call(CollectiveKind::all_gather, 64.0_MiB, within)},
        {"exchange", call(CollectiveKind::all_to_all, 32.0_MiB, within)}}},
      {"channels",
       {{"sum", call(CollectiveKind::all_reduce, 64.0_MiB)}}}};  // of all ranks: one cannot stand for all
  const Experiment experiment = experiment_of(cluster, program_of(streams, cluster.ranks()));
  Strategy strategy = kStrategy;
  strategy.streams["copies"].backend = Backend::dma;
  const RunResult all = run(experiment, Fold::none, strategy), mean = run(experiment, Fold::mean, strategy);
  CHECK(factor(all, experiment) == 1.0);
  CHECK(factor(mean, experiment) == 32.0);
  CHECK(mean.time.value == near(all.time.value, 2e-3));
  // Commands that serve several edges at once do not stand for others.
  strategy.streams["copies"].dma.variant = DmaVariant::b2b;
  CHECK(factor(run(experiment, Fold::mean, strategy), experiment) == 1.0);
}

TEST_CASE("hosts that stall delay a step by the latest of them, folded or not") {
  // Eight ranks whose GPUs wait for their hosts and for one another, 40 launches of 100 us: 4 ms of work, 0.2
  // stalls of 0.5 ms a host, which add up over the hosts.
  constexpr int kSeeds = 400, kLaunches = 40;
  ClusterSpec cluster = nodes_of_eight(1, false, one_switch(8));
  std::vector<WrittenOperation> operations;
  HostProgram host{.threads = {{}}};
  host.stalls = {.every = 20.0_ms, .lasts = 0.5_ms};
  const auto launch = [&](WrittenOperation operation) {
    host.threads[0].steps.push_back({.launches = OperationPlace{0, operations.size()}, .cost = 100.0_us});
    operations.push_back(std::move(operation));
  };
  for (int i = 0; i < kLaunches; ++i)
    launch({"sum", CollectiveCall{.kind = CollectiveKind::all_reduce, .bytes = 8.0_kB}});
  const std::vector<WrittenStream> streams{{"s", operations}};
  Experiment experiment = experiment_of(cluster, program_of(streams, cluster.ranks()));
  HostProgram punctual = host;
  punctual.stalls = {};
  experiment.program.scripts.front().host = punctual;
  const Seconds without = run(experiment, Fold::mean).time;
  experiment.program.scripts.front().host = host;
  const Seconds folded = run(experiment, Fold::mean).time - without;
  experiment.measure.fold = Fold::none;
  Seconds mean;
  for (std::uint32_t seed = 0; seed < kSeeds; ++seed)
    mean += (run_once(experiment, kStrategy, {.seed = seed}).time - without) / kSeeds;
  MESSAGE("stalls add ", mean / 1.0_us, " us in the mean of ", kSeeds, " seeds, folded ", folded / 1.0_us,
          " us");
  CHECK(folded / 1.0_us > 400.0);
  CHECK(mean.value == near(folded.value, 0.1));
}

}  // namespace c3::workloads_folding_test
