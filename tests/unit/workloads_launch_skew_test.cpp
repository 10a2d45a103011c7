// GPUs whose hosts launch apart, and a host that gathers what ran beside one another.

#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "workloads/execute/launch_skew.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "tests/support/near.hpp"
#include "tests/support/print_units.hpp"
#include "tests/unit/workloads_pair.hpp"
#include "workloads/analysis/study.hpp"

namespace c3::workloads_launch_skew_test {

using namespace literals;
using namespace test;

namespace {

constexpr int kRanks = 8;
constexpr Seconds kSkew{20e-6};

WrittenExperiment skewed(bool fold, const GemmShape& gemm = gemm_of_tiles(24, 19)) {
  WrittenExperiment experiment = pair(gemm);
  experiment.cluster.gpu.host.launch_skew = kSkew;
  experiment.measure.fold = fold ? Fold::mean : Fold::none;
  return experiment;
}

Seconds latest(const Experiment& experiment, std::uint64_t seed) {
  const std::uint64_t of_run = (experiment.measure.seed << 20U) + seed;
  return std::ranges::max(launch_delays(kSkew, kRanks, of_run));
}

RunResult run(const Experiment& experiment, const Strategy& strategy, std::uint64_t seed = 0) {
  RunSetup setup;
  setup.seed = seed;
  return run_once(experiment, strategy, setup);
}

Strategy on_copy_engines(std::vector<std::string> order) {
  Strategy strategy = in_order(std::move(order));
  strategy.streams["fsdp"].backend = Backend::dma;
  return strategy;
}

/// Expected largest less expected smallest of \p n times |z|, z standard normal cut at three deviations.
double expected_span(int n) {
  constexpr int kSteps = 30'000;
  const double whole = std::erf(3.0 / std::numbers::sqrt2);
  double span = 0.0;
  for (int i = 0; i < kSteps; ++i) {
    const double below = std::erf(3.0 * (i + 0.5) / kSteps / std::numbers::sqrt2) / whole;
    span += (1.0 - std::pow(below, n) - std::pow(1.0 - below, n)) * 3.0 / kSteps;
  }
  return span;
}

}  // namespace

TEST_CASE("the first rank launches at 0, and the last of n as late as the order statistic says") {
  double sum = 0.0;
  constexpr int kSeeds = 4096;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const std::vector<Seconds> delays = launch_delays(kSkew, kRanks, seed);
    REQUIRE(delays.size() == kRanks);
    CHECK(std::ranges::min(delays) == 0.0_s);
    sum += std::ranges::max(delays) / kSkew;
  }
  CHECK(sum / kSeeds == near(expected_span(kRanks), 0.02));
}

TEST_CASE("delays are of their seed and in proportion to the skew, without it there are none") {
  CHECK(launch_delays(kSkew, kRanks, 3) == launch_delays(kSkew, kRanks, 3));
  CHECK(launch_delays(kSkew, kRanks, 3) != launch_delays(kSkew, kRanks, 4));
  const std::vector<Seconds> once = launch_delays(kSkew, kRanks, 3),
                             twice = launch_delays(2.0 * kSkew, kRanks, 3);
  for (std::size_t rank = 0; rank < once.size(); ++rank)
    CHECK(twice[rank] == 2.0 * once[rank]);
  for (const Seconds delay : launch_delays({}, kRanks, 3))
    CHECK(delay == 0.0_s);
}

TEST_CASE("the last rank to launch delays a prioritised collective by just that, on either backend") {
  for (const bool fold : {true, false}) {
    WrittenExperiment together = skewed(fold);
    together.cluster.gpu.host.launch_skew = {};
    for (const Strategy& strategy : {in_order({"fsdp", "compute"}), on_copy_engines({"fsdp", "compute"})}) {
      const RunResult late = run(skewed(fold), strategy), at_once = run(together, strategy);
      const Seconds delay = latest(together, 0);
      CHECK(delay > 5.0_us);
      CHECK((late.time - at_once.time).value == near(delay.value));
      CHECK((late.collectives.duration() - at_once.collectives.duration()).value == near(delay.value));
    }
  }
}

TEST_CASE("a GEMM waits for no other rank: its first launch counts, and the last end") {
  const Experiment experiment = skewed(false);
  Recording recording;
  run_recorded(experiment, in_order(), recording);
  const std::vector<Seconds> delays = launch_delays(kSkew, kRanks, experiment.measure.seed << 20U);
  for (int rank = 0; rank < kRanks; ++rank) {
    double first = INFINITY;
    for (const auto* cohort : recording.of_kind(ActivityKind::cohort)) {
      if (cohort->gpu == rank) first = std::min(first, cohort->start.value);
    }
    CHECK(first == near(kLaunch + delays[static_cast<std::size_t>(rank)].value));
  }
  CHECK(run_side(experiment, OperationFilter::kernels).time.value ==
        near(kLaunch + 2 * wave_seconds() + kStores + latest(experiment, 0).value));
}

TEST_CASE("one rank that launches last stands for all: folded and explicit runs agree over 32 seeds") {
  for (const char* first : {"compute", "fsdp"}) {
    for (const bool dma : {false, true}) {
      double folded_sum = 0.0, explicit_sum = 0.0;
      for (std::uint64_t seed = 0; seed < 32; ++seed) {
        const Strategy strategy = dma ? on_copy_engines({first}) : in_order({first});
        const Seconds folded = run(skewed(true), strategy, seed).time;
        const Seconds all = run(skewed(false), strategy, seed).time;
        // The runs take some 3 ms; the order statistic's own deviation is 9 us.
        CHECK(folded.value == near(all.value, 1e-5));
        folded_sum += folded.value;
        explicit_sum += all.value;
      }
      CHECK(folded_sum == near(explicit_sum, 1e-6));
    }
  }
}

TEST_CASE("a rank is late once, whatever its streams wait for") {
  WrittenExperiment experiment = skewed(true, gemm_of_tiles(8, 38));
  experiment.streams = {{"compute", {{"first", gemm_of_tiles(8, 38)}, {"mark", WrittenRecord{"done"}}}},
                        {"fsdp", {{"await", WrittenWait{"done"}}, {"gather", gather()}}}};
  const double gemm = kLaunch + wave_seconds() + kStores;
  CHECK(run(experiment, in_order()).time.value == near(latest(experiment, 0).value + gemm + kLaunch + kGather));
  Strategy serial = in_order();
  serial.serial = true;
  experiment.streams[1].operations.erase(experiment.streams[1].operations.begin());
  CHECK(run(experiment, serial).time.value == near(latest(experiment, 0).value + gemm + kGap + kGather));
}

TEST_CASE("the host's join is added once, where streams ran beside one another") {
  WrittenExperiment experiment = pair();
  WrittenExperiment joined = experiment;
  joined.cluster.gpu.host.join = 20.0_us;
  for (const Strategy& strategy : {in_order(), on_copy_engines({"fsdp"})}) {
    const RunResult with = run(joined, strategy), without = run(experiment, strategy);
    CHECK((with.time - without.time).value == near(20e-6));
    CHECK(with.kernels.end == without.kernels.end);
    CHECK(with.collectives.end == without.collectives.end);
  }
  Strategy serial = in_order();
  serial.serial = true;
  CHECK(run(joined, serial).time == run(experiment, serial).time);
  for (const OperationFilter filter : {OperationFilter::kernels, OperationFilter::collectives})
    CHECK(run_side(joined, filter).time == run_side(experiment, filter).time);
  RunSetup one_stream;
  one_stream.only_stream = 1;
  CHECK(run_once(joined, in_order(), one_stream).time == run_once(experiment, in_order(), one_stream).time);
  experiment.streams[0].operations = {{"mark", WrittenRecord{"early"}}};  // no work
  joined.streams = experiment.streams;
  CHECK(run(joined, in_order()).time == run(experiment, in_order()).time);
}

TEST_CASE("the host's join is a loss that no private resource removes") {
  WrittenExperiment experiment = pair();
  experiment.measure.loss_split = true;
  experiment.strategies = {in_order({"fsdp", "compute"})};
  const auto interaction = [&](Seconds join) {
    experiment.cluster.gpu.host.join = join;
    return run_study([&](std::optional<std::uint64_t>) { return experiment; }).strategies[0].loss->interaction;
  };
  CHECK((interaction(20.0_us) - interaction({})).value == near(20e-6));
}

}  // namespace c3::workloads_launch_skew_test
