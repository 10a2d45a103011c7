// Splits the time beyond ideal by what it is lost to.

#include "workloads/analysis/loss_split.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "tests/support/near.hpp"
#include "tests/support/print_units.hpp"
#include "tests/unit/workloads_pair.hpp"

namespace c3::workloads_loss_split_test {

using namespace literals;
using namespace test;

namespace {

constexpr Seconds kIdeal{1e-4};  // subtracted from the rest only

Seconds median_time(const Experiment& experiment, const Strategy& strategy,
                    const std::vector<std::uint64_t>& seeds) {
  std::vector<Seconds> times;
  for (const std::uint64_t seed : seeds)
    times.push_back(run_once(experiment, strategy, {.cus = {}, .seed = seed}).time);
  std::ranges::sort(times);
  return times[(times.size() - 1) / 2];
}

LossSplit split(const Experiment& experiment, const Strategy& strategy,
                const std::vector<std::uint64_t>& seeds = {0}) {
  const CuChoice none(experiment.program.streams.size(), 0);
  const LossBounds bounds{.together = median_time(experiment, strategy, seeds), .ideal = kIdeal};
  return split_loss(experiment, strategy, none, seeds, bounds, [] {});
}

Seconds explained(const LossSplit& loss) {
  return loss.dispatch + loss.cus + loss.cache + loss.hbm + loss.links;
}

Seconds time_with(const Experiment& experiment, const Strategy& strategy, Isolation isolation) {
  return run_once(experiment, strategy, {.isolation = isolation}).time;
}

WrittenExperiment drawn_pair() {
  WrittenExperiment experiment = pair();
  experiment.cluster.gpu.dispatch.work_group_spread = 0.02;
  return experiment;
}

}  // namespace

TEST_CASE("the parts and the interaction are the median time beyond ideal") {
  const std::vector<std::uint64_t> seeds{0, 1, 2};
  const LossSplit loss = split(drawn_pair(), in_order(), seeds);
  CHECK(loss.total().value == near((median_time(drawn_pair(), in_order(), seeds) - kIdeal).value));
}

TEST_CASE("the parts are what private copies of everything save, the interaction what they do not") {
  const Isolation all = Isolation::from_bits((1U << kSharedResources) - 1);
  const LossSplit loss = split(drawn_pair(), in_order());
  CHECK(loss.interaction.value == near((time_with(drawn_pair(), in_order(), all) - kIdeal).value));
  CHECK(explained(loss).value ==
        near((time_with(drawn_pair(), in_order(), {}) - time_with(drawn_pair(), in_order(), all)).value));
}

TEST_CASE("a stream alone shares nothing: no part is other than zero") {
  WrittenExperiment experiment = drawn_pair();
  experiment.streams.pop_back();
  const LossSplit loss = split(experiment, in_order());
  CHECK(explained(loss) == 0.0_s);
  CHECK(loss.interaction.value == near((time_with(experiment, in_order(), {}) - kIdeal).value));
}

TEST_CASE("copy engines leave no part to CUs, dispatch or links") {
  Strategy dma = in_order();
  dma.streams["fsdp"].backend = Backend::dma;
  const LossSplit loss = split(drawn_pair(), dma);
  CHECK(loss.dispatch == 0.0_s);
  CHECK(loss.cus == 0.0_s);
  CHECK(loss.links == 0.0_s);
}

TEST_CASE("a gather starved behind a GEMM loses its time to dispatch and CUs, none to fast memory") {
  // It starts a wave late; alone it would end at launch + kGather. Both its own queue and its own CUs are
  // needed to start it at once: a queue alone, as it is smaller than the GEMM, gets it the first CUs.
  const LossSplit loss = split(pair(gemm_of_tiles(8, 57), gather(Bytes{4e9})), in_order({"compute", "fsdp"}));
  CHECK(loss.dispatch > 0.1 * Seconds{wave_seconds()});
  CHECK((loss.dispatch + loss.cus).value == near(explained(loss).value, 1e-2));
  CHECK(std::abs(loss.hbm.value) < 1e-2 * wave_seconds());
  CHECK(std::abs(loss.cache.value) < 1e-2 * wave_seconds());
  CHECK(loss.links == 0.0_s);
}

TEST_CASE("two gathers lose to links what they share there") {
  // Each alone: S/N at 42 GB/s; together on shared links twice as long.
  WrittenExperiment experiment = pair();
  experiment.streams = {{"tp", {{"a", gather()}}}, {"dp", {{"b", gather()}}}};
  const LossSplit loss = split(experiment, in_order());
  CHECK(loss.links.value == near(125e6 / 42e9, 0.05));
}

TEST_CASE("Shapley values average the marginal savings over both orders of two resources") {
  // A GEMM beside a collective on copy engines shares cache and HBM only. Recomputed from the four runs.
  WrittenExperiment experiment = drawn_pair();
  experiment.cluster.gpu.hbm.read = experiment.cluster.gpu.hbm.write = experiment.cluster.gpu.hbm.copy =
      1.5_TBps;
  experiment.cluster.gpu.cache.llc_size = 64.0_MiB;
  Strategy dma = in_order();
  dma.streams["fsdp"].backend = Backend::dma;
  const Isolation cache = Isolation{}.with(SharedResource::cache);
  const Isolation hbm = Isolation{}.with(SharedResource::hbm);
  const Seconds none = time_with(experiment, dma, {});
  const Seconds with_cache = time_with(experiment, dma, cache);
  const Seconds with_hbm = time_with(experiment, dma, hbm);
  const Seconds with_both = time_with(experiment, dma, cache.with(SharedResource::hbm));
  const LossSplit loss = split(experiment, dma);
  CHECK(loss.cache.value == near((0.5 * (none - with_cache) + 0.5 * (with_hbm - with_both)).value, 1e-6));
  CHECK(loss.hbm.value == near((0.5 * (none - with_hbm) + 0.5 * (with_cache - with_both)).value, 1e-6));
  CHECK(loss.hbm > 0.0_s);
}

TEST_CASE("only what streams share is varied: 2^n runs for each seed") {
  Strategy dma = in_order();
  dma.streams["fsdp"].backend = Backend::dma;
  CHECK(loss_split_runs(pair(), in_order()) == 15);  // dispatch, cus, cache, hbm
  CHECK(loss_split_runs(pair(), dma) == 3);          // cache, hbm
  dma.streams["compute"].reserve_cus = 8;
  CHECK(loss_split_runs(pair(), dma) == 7);  // cus that nobody has
  WrittenExperiment experiment = pair();
  experiment.streams.pop_back();
  CHECK(loss_split_runs(experiment, in_order()) == 0);
  experiment.streams = {{"tp", {{"a", gather()}}}, {"dp", {{"b", gather()}}}};
  CHECK(loss_split_runs(experiment, in_order()) == 31);  // and links
}

TEST_CASE("every simulated run is reported") {
  // dispatch, cus, cache and hbm are shared: 15 subsets that are not empty, two seeds.
  int runs = 0;
  const std::array<std::uint64_t, 2> seeds{0, 1};
  split_loss(pair(), in_order(), {0, 0}, seeds, {}, [&] { ++runs; });
  CHECK(runs == 30);
}

}  // namespace c3::workloads_loss_split_test
