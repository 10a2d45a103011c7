// What the sides of the study do alone.

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "configs/jobs/experiment_reader.hpp"
#include "configs/presets/preset_store.hpp"
#include "engine/errors.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "studies/conccl/alone.hpp"
#include "studies/conccl/characterisation_part.hpp"
#include "studies/study.hpp"
#include "tests/support/mi300x_like.hpp"
#include "tests/support/near.hpp"

namespace c3::studies_conccl_characterisation_test { namespace {

const StudyProgress kQuiet = [](std::size_t, std::size_t) {};

/// One strategy on copy engines fed by one thread, and nothing to run.
Experiment on(const ClusterSpec& cluster) {
  Experiment experiment;
  experiment.cluster = cluster;
  Strategy dma{.name = "dma", .order = {}, .streams = {}};
  dma.streams["comm"].backend = Backend::dma;
  dma.streams["comm"].dma.host = DmaHost::node;
  experiment.strategies = {dma};
  return experiment;
}

/// MI300X; in draw n links carry n + 1 tenths less.
Experiment drawn(std::optional<std::uint64_t> draw) {
  ClusterSpec cluster = load_cluster("mi300x-8");
  if (draw)
    cluster.library.link_payload = cluster.library.link_payload * (0.9 - 0.1 * static_cast<double>(*draw));
  return on(cluster);
}

CharacterisationPart characterised(int draws) { return {drawn, draws}; }

/// What \p part finds after its jobs have run.
FoundNumbers found_by(CharacterisationPart& part) {
  SimulationJobs jobs;
  part.plan(jobs);
  run_simulations(jobs, kQuiet);
  FoundNumbers found;
  part.add_found(found);
  return found;
}

TEST_CASE("the GEMMs are two models' five projections of three lengths, 405B's up among them") {
  const std::vector<GemmShape> gemms = compute_bound_gemms();
  CHECK(gemms.size() == 30);
  std::set<std::tuple<std::int64_t, std::int64_t, std::int64_t>> different;
  for (const GemmShape& gemm : gemms)
    different.insert({gemm.m, gemm.n, gemm.k});
  CHECK(different.size() == 30);
  CHECK(llama_405b_up() == GemmShape{4096, 53248, 16384, DType::bf16});
  CHECK(std::ranges::count(gemms, llama_405b_up()) == 1);
}

TEST_CASE("a GEMM without CUs takes as much longer as it has more waves") {
  // 16 x 208 tiles of 256 x 256 are 416 an XCD: 11 waves of 38 CUs, 13 of 34 or fewer, 14 of 30.
  const GpuSpec gpu = test::mi300x_like_gpu();
  CHECK(slowdown(llama_405b_up(), gpu, 0) == 0.0);
  CHECK(slowdown(llama_405b_up(), gpu, 32) == near(100.0 * (13.0 / 11.0 - 1.0), 0.01));
  CHECK(slowdown(llama_405b_up(), gpu, 64) == near(100.0 * (14.0 / 11.0 - 1.0), 0.01));
  const std::vector<GemmShape> two = {llama_405b_up(),
                                      {256 * 8, 256 * 38, 4096, DType::bf16}};  // one wave, or two
  const Slowdown both = slowdown(two, gpu, 64);
  CHECK(both.least == slowdown(two[0], gpu, 64));
  CHECK(both.greatest == slowdown(two[1], gpu, 64));
  CHECK(both.mean == near(0.5 * (both.least + both.greatest)));
  CHECK(both.greatest > 90.0);
}

TEST_CASE("a collective on few CUs has no others, and GPUs launch together") {
  Experiment experiment = on(test::mi300x_like_cluster());
  const CollectiveCall call{.kind = CollectiveKind::all_gather, .bytes = Bytes{1e9}};
  const Seconds whole = time_on_cus(experiment, call, Algorithm::direct, 0);
  CHECK(whole.value == near(2e-6 + 17e-6 + 2.2e-6 + 125e6 / 42e9));
  CHECK(time_on_cus(experiment, call, Algorithm::direct, 64) == whole);
  // Four rounds of two channels at 6 GB/s, but for the last: contract/8 CUs has it by hand.
  CHECK(time_on_cus(experiment, call, Algorithm::direct, 8).value ==
        near(2e-6 + 4 * (17e-6 + 2.2e-6) + 3 * 125e6 / 48e9 + 125e6 / 64e9));
  experiment.cluster.gpu.host.launch_skew = Seconds{1e-3};
  CHECK(time_on_cus(experiment, call, Algorithm::direct, 0) == whole);
}

TEST_CASE("copy engines are set beside the library's choice and its ring, as the study commands them") {
  const ClusterSpec cluster = test::mi300x_like_cluster();
  const DmaOptions dma = dma_options(on(cluster));
  CHECK(dma.host == DmaHost::node);
  const CopyTimes gather = copy_times(cluster, {.kind = CollectiveKind::all_gather, .bytes = Bytes{1e9}}, dma);
  CHECK(gather.library.value == near(1.5e-6 + 17e-6 + 2.2e-6 + 125e6 / 42e9));
  CHECK(gather.ring.value == near(1.5e-6 + 17e-6 + 7 * 2.2e-6 + 125e6 / 42e9));
  CHECK(gather.engines.value == near(1.5e-6 + 56 * 0.6e-6 + 2.5e-6 + 0.3e-6 + 125e6 / 40e9 + 2e-6));
  const CopyTimes exchange =
      copy_times(cluster, {.kind = CollectiveKind::all_to_all, .bytes = Bytes{1e9}}, dma);
  CHECK(exchange.ring == exchange.library);
  Experiment without = on(cluster);
  without.strategies.clear();
  CHECK_THROWS_AS(dma_options(without), std::logic_error);
}

TEST_CASE("numbers are found at nominal values and in every draw") {
  CharacterisationPart part = characterised(3);
  const FoundNumbers found = found_by(part);
  const Found& alone = found.at("alone");
  REQUIRE(alone.nominal.size() == 1);
  REQUIRE(alone.draws.size() == 3);
  // Links carry 0.9 - 0.1 n of their nominal payload in draw n: all but latency is that much slower.
  for (std::size_t draw = 0; draw < 3; ++draw)
    CHECK(alone.draws[draw].at("large") ==
          near((100.0 + alone.nominal[0].at("large")) / (0.9 - 0.1 * static_cast<double>(draw)) - 100.0, 0.01));
  CHECK(alone.draws[0].at("gemms.64") == alone.nominal[0].at("gemms.64"));
  CHECK(alone.nominal[0].at("gemms.64.least") < alone.nominal[0].at("gemms.64"));
  CHECK(found.at("all_gather").nominal[0].at("fewest") == 32.0);
  CHECK(found.at("all_to_all").draws.empty());
  CHECK_FALSE(found.contains("streamed"));
}

TEST_CASE("curves have the points of what was run, with the published ones beside") {
  const PublishedFigures published(study_file("conccl", "published.csv"));
  CharacterisationPart part = characterised(0);
  const FoundNumbers found = found_by(part);
  const NamedNumbers& alone = found.at("alone").nominal.front();
  const std::vector<CurvePlot> plots = part.plots(published);
  REQUIRE(plots.size() == 3);
  for (const CurvePlot& plot : plots) {
    for (const Curve& curve : plot.curves) {
      REQUIRE(curve.points.size() > 5);
      CHECK(std::ranges::is_sorted(curve.points, {}, &CurvePoint::x));
    }
  }
  const CurvePoint last = plots[0].curves[0].points.back();
  CHECK(last.x == 64.0);
  CHECK(last.y == near(alone.at("gemms.64")));
  CHECK(plots[2].curves[0].points.front().x == 1024.0);
  CHECK(plots[2].curves[0].points.front().y == near(alone.at("gather.library.over")));
  CHECK(plots[2].curves[0].points.back().x == 1024.0 * 1024.0 * 1024.0);
  CHECK(plots[2].x.ticks[1].text == "32 KiB");
  CHECK(plots[2].curves[0].points.front().title.starts_with("all-gather, of RCCL direct, 1 KiB: "));
  CHECK(plots[0].x.low == 0.0);
  CHECK(plots[0].x.ticks.back().text == "60");
}

TEST_CASE("a system that cannot run a collective ends the study with the reason") {
  Experiment without = on(test::mi300x_like_cluster());
  without.cluster.gpu.dma.engines = 0;
  CharacterisationPart part([&](std::optional<std::uint64_t>) { return without; }, 0);
  SimulationJobs jobs;
  part.plan(jobs);
  CHECK_THROWS_AS(run_simulations(jobs, kQuiet), InfeasibleError);
}

TEST_CASE("memory-bound GEMMs lose less to CUs removed, and gain where the caches are relieved") {
  const GemmShape streamed{4096, 8192, 8192, DType::bf16, 1, GemmTraffic::streamed};
  CharacterisationPart part(drawn, 2, {streamed});
  const FoundNumbers found = found_by(part);
  const GpuSpec gpu = load_cluster("mi300x-8").gpu;
  for (const int removed : {8, 32, 64})
    CHECK(found.at("streamed").nominal[0].at("streamed." + std::to_string(removed)) ==
          near(slowdown(streamed, gpu, removed)));
  GemmShape tiled = streamed;
  tiled.traffic = GemmTraffic::tiled;
  CHECK(slowdown(streamed, gpu, 8) < 0.0);
  CHECK(slowdown(streamed, gpu, 64) < slowdown(tiled, gpu, 64) - 10.0);
  CHECK(part.plots(PublishedFigures(study_file("conccl", "published.csv"))).front().curves.size() == 3);
}

}}  // namespace c3::studies_conccl_characterisation_test
