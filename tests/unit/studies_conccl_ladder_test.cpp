#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "studies/conccl/ladder.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>

#include "engine/random.hpp"
#include "tests/support/near.hpp"
#include "tests/unit/workloads_pair.hpp"

namespace c3::studies_conccl_ladder_test { namespace {

using test::gemm_of_tiles;

/// The strategies of the study on the round-number cluster.
Experiment ladder_pair(const GemmShape& gemm, const CollectiveCall& call) {
  Experiment experiment = test::pair(gemm, call);
  StreamPolicy swept, engines, without_8;
  swept.cus = {8, 128};
  engines.backend = Backend::dma;
  without_8.reserve_cus = 8;
  experiment.strategies = {
      {.name = "base", .order = {"compute", "fsdp"}, .streams = {}},
      {.name = "sp", .order = {"fsdp", "compute"}, .streams = {}},
      {.name = "rp", .order = {"compute", "fsdp"}, .streams = {{"fsdp", swept}}},
      {.name = "sp_rp", .order = {"fsdp", "compute"}, .streams = {{"fsdp", swept}}},
      {.name = "conccl", .order = {}, .streams = {{"fsdp", engines}}},
      {.name = "conccl_8", .order = {}, .streams = {{"fsdp", engines}, {"compute", without_8}}},
  };
  return experiment;
}

/// A pair of its own for each number: either side may be several times as long as the other.
Experiment random_pair(std::uint64_t number) {
  const RandomStream random(number, 0);
  const auto between = [&](std::uint64_t index, double low, double high) {
    return low * std::pow(high / low, random.uniform(index));
  };
  const auto tiles = [&](std::uint64_t index) { return static_cast<std::int64_t>(between(index, 4, 40)); };
  const auto k = static_cast<std::int64_t>(between(2, 1024, 8192));
  const auto kind = random.uniform(3) < 0.5 ? CollectiveKind::all_gather : CollectiveKind::all_to_all;
  Experiment experiment =
      ladder_pair(gemm_of_tiles(tiles(0), tiles(1), k), {kind, Bytes{between(4, 2e7, 6e8)}});
  experiment.cluster.gpu.dispatch.work_group_spread = 0.05;
  return experiment;
}

const Strategy& strategy_of(const Experiment& experiment, const std::string& name) {
  return *std::ranges::find(experiment.strategies, name, &Strategy::name);
}

TEST_CASE("masks left out by isolated times are never the best of a full sweep") {
  std::size_t saved = 0;
  for (std::uint64_t number = 0; number < 40; ++number) {
    CAPTURE(number);
    const Experiment pair = random_pair(number);
    const AloneTimes kernel = kernel_alone(pair, number);
    const AloneTimes collective =
        run_alone(pair, strategy_of(pair, "rp"), OperationFilter::collectives, number);
    for (const char* name : {"rp", "sp_rp"}) {
      const Strategy& strategy = strategy_of(pair, name);
      const MaskSweep full = sweep_masks(pair, strategy, kernel, collective, number, Pruning::none);
      const MaskSweep pruned = sweep_masks(pair, strategy, kernel, collective, number);
      CHECK(full.runs == 5);  // 8, 16, 32, 64, 128
      CHECK(pruned.best == full.best);
      CHECK(pruned.lookup == full.lookup);
      saved += full.runs - pruned.runs;
    }
  }
  MESSAGE("runs saved of 400: " << saved);
  CHECK(saved > 100);
}

TEST_CASE("under a mask the order in which two streams are enqueued changes nothing") {
  for (std::uint64_t number = 0; number < 20; ++number) {
    CAPTURE(number);
    const Experiment pair = random_pair(number);
    for (const int cus : {8, 16, 32, 64, 128}) {
      CAPTURE(cus);
      RunSetup setup;
      setup.cus = {0, cus};
      setup.seed = number;
      CHECK(run_once(pair, strategy_of(pair, "rp"), setup).time ==
            run_once(pair, strategy_of(pair, "sp_rp"), setup).time);
    }
  }
}

TEST_CASE("isolated times are those of the mask's two parts, and name the mask that is looked up") {
  const Experiment pair = ladder_pair(gemm_of_tiles(24, 19), test::gather());
  const AloneTimes kernel = kernel_alone(pair, 0);
  const AloneTimes collective = run_alone(pair, strategy_of(pair, "rp"), OperationFilter::collectives, 0);
  // 456 tiles are 57 of each XCD. 38 CUs take two waves, and so do all masks but that of 128 CUs: 22 CUs,
  // three.
  CHECK(kernel.whole.value == near(test::kLaunch + 2 * test::wave_seconds() + test::kStores));
  REQUIRE(kernel.masked.size() == 5);
  for (std::size_t mask = 0; mask < 4; ++mask)
    CHECK(kernel.masked[mask] == kernel.whole);
  CHECK(kernel.masked[4].value == near(test::kLaunch + 3 * test::wave_seconds() + test::kStores));
  CHECK(collective.masked[0] > collective.masked[1]);
  CHECK(collective.masked[4] == collective.whole);

  std::size_t least = 0;
  for (std::size_t mask = 0; mask < 5; ++mask) {
    if (std::max(kernel.masked[mask], collective.masked[mask]) <
        std::max(kernel.masked[least], collective.masked[least]))
      least = mask;
  }
  const MaskSweep sweep = sweep_masks(pair, strategy_of(pair, "rp"), kernel, collective, 0);
  CHECK(sweep.lookup.cus == 8 << least);
  RunSetup setup;
  setup.cus = {0, sweep.lookup.cus};
  CHECK(sweep.lookup.time == run_once(pair, strategy_of(pair, "rp"), setup).time);
}

TEST_CASE("random order of launches is either order of the two streams") {
  Experiment pair = ladder_pair(gemm_of_tiles(24, 38), test::gather(Bytes{3e8}));
  pair.cluster.gpu.dispatch.work_group_spread = 0.02;
  std::set<double> outcomes;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const LadderTimes times = run_ladder(pair, kernel_alone(pair, seed), seed);
    Experiment random = pair;
    random.cluster.gpu.dispatch.policy = DispatchPolicy::random_order;
    const Seconds time = run_once(random, strategy_of(pair, "base"), {.seed = seed}).time;
    const bool is_base = time == times[Rung::base];
    const bool is_sp = time == times[Rung::sp];
    CHECK((is_base || is_sp));
    outcomes.insert(is_base ? 0.0 : 1.0);
    const Seconds base = *times[Rung::base], sp = *times[Rung::sp];
    CHECK(1.0 / times[Rung::base_random_order]->value == near(0.5 / base.value + 0.5 / sp.value));
  }
  CHECK(outcomes.size() == 2);
}

TEST_CASE("a ladder runs what it is asked for, and says with how many CUs") {
  const Experiment pair = ladder_pair(gemm_of_tiles(24, 19), test::gather());
  const AloneTimes kernel = kernel_alone(pair, 3);
  const LadderTimes all = run_ladder(pair, kernel, 3);
  for (const Rung rung : kRungs) {
    CAPTURE(name_of(rung));
    REQUIRE(all[rung].has_value());
    const bool has_mask = rung == Rung::rp || rung == Rung::rp_lookup || rung == Rung::sp_rp;
    CHECK((all.cus[index_of(rung)] > 0) == has_mask);
    const LadderTimes one = run_ladder(pair, kernel, 3, rungs_of(std::array{rung}));
    CHECK(one.together[index_of(rung)] == all.together[index_of(rung)]);
    CHECK(one.kernel == all.kernel);
    CHECK(one.collective == all.collective);
    CHECK(std::ranges::count_if(one.together, [](const auto& time) { return time.has_value(); }) == 1);
  }
  CHECK(*all[Rung::rp] <= *all[Rung::rp_lookup]);
}

TEST_CASE("a strategy that is not there is named") {
  Experiment pair = ladder_pair(gemm_of_tiles(4, 4), test::gather(Bytes{1e6}));
  const AloneTimes kernel = kernel_alone(pair, 0);
  std::erase_if(pair.strategies, [](const Strategy& strategy) { return strategy.name == "conccl_8"; });
  CHECK_THROWS_WITH_AS(run_ladder(pair, kernel, 0), "ladder: experiment 'pair' has no strategy 'conccl_8'",
                       std::logic_error);
}

}}  // namespace c3::studies_conccl_ladder_test
