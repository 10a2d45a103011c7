// What a runtime picks that knows each side of a pair alone.

#include "workloads/analysis/heuristics.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/support/near.hpp"
#include "tests/unit/workloads_pair.hpp"

namespace c3::workloads_heuristics_test {

using namespace test;

namespace {

Strategy named(const std::string& name, std::vector<std::string> order, StreamPolicy fsdp = {}) {
  return {.name = name, .order = std::move(order), .streams = {{"fsdp", fsdp}}};
}

/// A GEMM of 456 tiles beside an all-gather on 56 channels.
WrittenExperiment with_strategies(std::vector<Strategy> strategies) {
  WrittenExperiment experiment = pair();
  experiment.strategies = std::move(strategies);
  experiment.measure.seeds = 3;
  return experiment;
}

std::vector<HeuristicPick> picks(const Experiment& experiment) {
  const ExperimentFactory make = [&](std::optional<std::uint64_t>) { return experiment; };
  return heuristic_picks(make, run_study(make).strategies);
}

}  // namespace

TEST_CASE("the side with fewer work groups is launched first") {
  CHECK(launched_first(pair()) == 1);                     // 56 channels, 456 tiles
  CHECK(launched_first(pair(gemm_of_tiles(5, 8))) == 0);  // 40 tiles
  WrittenExperiment swapped = pair();
  std::swap(swapped.streams[0], swapped.streams[1]);
  CHECK(launched_first(swapped) == 0);
}

TEST_CASE("only a stream of kernels and one of collectives are a pair") {
  WrittenExperiment three = pair();
  three.streams.push_back({"more", {{"gemm", gemm_of_tiles(1, 1)}}});
  CHECK_FALSE(pair_of(Experiment(three).program).has_value());
  WrittenExperiment kernels = pair();
  kernels.streams[1] = {"more", {{"gemm", gemm_of_tiles(1, 1)}}};
  CHECK_FALSE(pair_of(Experiment(kernels).program).has_value());
  CHECK(pair_of(Experiment(pair()).program)->collective == 1);
}

TEST_CASE("the partition whose longer side is shortest comes first, the earlier of two alike") {
  using namespace literals;
  const std::vector<Seconds> kernel = {1.0_ms, 2.0_ms, 4.0_ms, 4.0_ms};
  const std::vector<Seconds> collective = {9.0_ms, 4.0_ms, 2.0_ms, 1.0_ms};
  CHECK(by_isolated_times(kernel, collective) == std::vector<std::size_t>{1, 2, 3, 0});
}

TEST_CASE("the rules pick a strategy by its order and a partition by isolated times, whatever wins") {
  const Experiment experiment =
      with_strategies({named("base", {"compute", "fsdp"}), named("sp", {"fsdp", "compute"}),
                       named("rp", {"compute", "fsdp"}, {.cus = {8, 128}}),
                       named("dma", {"fsdp", "compute"}, {.cus = {}, .backend = Backend::dma})});
  const std::vector<HeuristicPick> found = picks(experiment);
  REQUIRE(found.size() == 2);
  CHECK(found[0].rule == HeuristicRule::work_groups);
  CHECK(found[0].strategy == "sp");
  CHECK(found[0].cus == 0);
  CHECK(found[1].rule == HeuristicRule::isolated_times);
  CHECK(found[1].strategy == "rp");

  // Found by hand: the mask with the least of the two isolated times, and the median of its runs together.
  const Strategy& rp = experiment.strategies[2];
  Seconds least{INFINITY}, together;
  int cus = 0;
  for (const CuChoice& choice : cu_choices(experiment, rp)) {
    const auto time = [&](OperationFilter filter, std::uint64_t seed) {
      return run_once(experiment, rp, {.cus = choice, .seed = seed, .filter = filter}).time;
    };
    const Seconds longer = std::max(time(OperationFilter::kernels, 0), time(OperationFilter::collectives, 0));
    if (longer >= least) continue;
    least = longer;
    cus = choice[1];
    std::vector<Seconds> runs;
    for (std::uint64_t seed = 0; seed < 3; ++seed)
      runs.push_back(time(OperationFilter::all, seed));
    std::ranges::sort(runs);
    together = runs[1];
  }
  CHECK(found[1].cus == cus);
  CHECK(found[1].time.value == near(together.value));
}

TEST_CASE("without a strategy that a rule could pick it picks none") {
  Strategy serial = named("serial", {"fsdp", "compute"});
  serial.serial = true;
  CHECK(picks(with_strategies({serial})).empty());
  CHECK(picks(with_strategies({named("base", {"compute", "fsdp"}),
                               named("dma", {"fsdp", "compute"}, {.cus = {}, .backend = Backend::dma})}))
            .empty());
  const auto partitioned = picks(with_strategies({named("rp", {"fsdp", "compute"}, {.cus = {32, 32}})}));
  REQUIRE(partitioned.size() == 1);
  CHECK(partitioned[0].cus == 32);
}

}  // namespace c3::workloads_heuristics_test
