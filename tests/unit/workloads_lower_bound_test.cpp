// The time that no simulation may beat.

#include "workloads/analysis/lower_bound.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/support/near.hpp"
#include "tests/unit/workloads_pair.hpp"
#include "workloads/program/program_builder.hpp"

namespace c3::workloads_lower_bound_test {

using namespace literals;
using namespace test;

namespace {

constexpr double kM = 6144, kN = 4864, kK = 4096;
constexpr double kFlops = 2 * kM * kN * kK;
constexpr double kGemmBytes = 2 * (kM * kK + kK * kN + kM * kN);

/// The pair with HBM of \p peak.
WrittenExperiment pair_with_hbm(BytesPerSecond peak, CollectiveKind kind = CollectiveKind::all_gather) {
  WrittenExperiment experiment = pair(gemm_of_tiles(24, 19), {kind, Bytes{1e9}});
  experiment.cluster.gpu.hbm.peak = peak;
  return experiment;
}

}  // namespace

TEST_CASE("kernels are bound by flops at peak, or compulsory bytes at peak HBM bandwidth") {
  CHECK(lower_bound(pair_with_hbm(5.0_TBps)).kernels.value == near(kFlops / 1300e12));
  CHECK(lower_bound(pair_with_hbm(0.1_TBps)).kernels.value == near(kGemmBytes / 0.1e12));
}

TEST_CASE("collectives are bound by 7/8 S over seven raw links") {
  for (const CollectiveKind kind : {CollectiveKind::all_gather, CollectiveKind::all_to_all}) {
    CHECK(lower_bound(pair_with_hbm(5.0_TBps, kind)).collectives.value == near(125e6 / 64e9));
  }
}

TEST_CASE("an all-gather reads a shard and writes seven, an all-to-all reads and writes seven") {
  // At 0.1 TB/s: 8/8 and 14/8 of 1 GB.
  CHECK(lower_bound(pair_with_hbm(0.1_TBps)).collectives.value == near(1e9 / 0.1e12));
  CHECK(lower_bound(pair_with_hbm(0.1_TBps, CollectiveKind::all_to_all)).collectives.value ==
        near(1.75e9 / 0.1e12));
}

TEST_CASE("together: the longest of flops, links and everybody's bytes at HBM") {
  CHECK(lower_bound(pair_with_hbm(5.0_TBps)).together().value == near(125e6 / 64e9));
  CHECK(lower_bound(pair_with_hbm(0.1_TBps)).together().value == near((kGemmBytes + 1e9) / 0.1e12));
}

TEST_CASE("serial: one side after the other") {
  CHECK(lower_bound(pair_with_hbm(5.0_TBps)).serial.value == near(kFlops / 1300e12 + 125e6 / 64e9));
}

TEST_CASE("bounds of several operations of a side add up, events cost nothing") {
  WrittenExperiment experiment = pair_with_hbm(5.0_TBps);
  const LowerBound once = lower_bound(experiment);
  for (WrittenStream& stream : experiment.streams)
    stream.operations.push_back(stream.operations.front());
  experiment.streams[0].operations.push_back({"mark", WrittenRecord{"e"}});
  const LowerBound twice = lower_bound(experiment);
  CHECK(twice.kernels.value == near(2 * once.kernels.value));
  CHECK(twice.collectives.value == near(2 * once.collectives.value));
  CHECK(twice.hbm.value == near(2 * once.hbm.value));
}

TEST_CASE("an all-reduce is bound by 2 x 7/8 S over seven raw links, and by S read and written") {
  const auto bound = [](BytesPerSecond hbm) {
    return lower_bound(pair_with_hbm(hbm, CollectiveKind::all_reduce)).collectives.value;
  };
  CHECK(bound(5.0_TBps) == near(2 * 125e6 / 64e9));
  CHECK(bound(0.1_TBps) == near(2e9 / 0.1e12));
}

TEST_CASE("a switch that adds halves the bound of an all-reduce, not below S in and out of a port") {
  WrittenExperiment experiment = pair_with_hbm(5.0_TBps, CollectiveKind::all_reduce);
  experiment.cluster.node = switched(8);
  CHECK(lower_bound(experiment).collectives.value == near(1.75e9 / 450e9));
  experiment.cluster.node.switch_reduces = true;
  CHECK(lower_bound(experiment).collectives.value == near(1e9 / 450e9));
}

TEST_CASE(
    "groups that share no rank overlap, one rank in both adds them up, and a kernel counts where it runs") {
  const auto reduce = [](std::vector<int> ranks) {
    CollectiveCall call{.kind = CollectiveKind::broadcast, .bytes = 1.0_GB};
    call.root = ranks.front();
    call.ranks = std::move(ranks);
    return WrittenOperation{"broadcast", call};
  };
  WrittenExperiment experiment = pair_with_hbm(5.0_TBps);
  experiment.streams = {{"comm", {reduce({0, 1}), reduce({2, 3})}}};
  const double one = 1e9 / (7 * 64e9);
  CHECK(lower_bound(experiment).collectives.value == near(one));
  experiment.streams[0].operations.push_back(reduce({1, 0}));  // 1 receives, then sends: both ways at once
  CHECK(lower_bound(experiment).collectives.value == near(one));
  experiment.streams[0].operations.push_back(reduce({0, 5}));
  CHECK(lower_bound(experiment).collectives.value == near(2 * one));

  experiment.streams = {
      {"compute", {{"gemm", gemm_of_tiles(24, 19), {0}}, {"gemm", gemm_of_tiles(24, 19), {1}}}}};
  CHECK(lower_bound(experiment).kernels.value == near(kFlops / 1300e12));
}

TEST_CASE(
    "serial: ranks that do different things overlap, so the bound is one rank's sum, not the worst of each "
    "side") {
  CollectiveCall others{.kind = CollectiveKind::all_gather, .bytes = 1.0_GB};
  others.ranks = {1, 2};
  WrittenExperiment experiment = pair_with_hbm(5.0_TBps);
  experiment.streams = {{"compute", {{"gemm", gemm_of_tiles(24, 19), {0}}}}, {"comm", {{"gather", others}}}};
  const LowerBound bound = lower_bound(experiment);
  CHECK(bound.serial.value == near(std::max(bound.kernels.value, bound.collectives.value)));
  experiment.streams[0].operations[0].on = {1};
  CHECK(lower_bound(experiment).serial.value == near(bound.kernels.value + bound.collectives.value));
}

TEST_CASE("timed kernels of two streams run beside each other, those of one stream in turn") {
  ProgramBuilder builder;
  const TimedKernel work{.duration = 100.0_us};
  for (const char* stream : {"one", "two", "one"})
    builder.timed(builder.stream(stream), "work", work);
  Experiment experiment;
  experiment.cluster = mi300x_like_cluster();
  experiment.program = builder.take();
  CHECK(lower_bound(experiment).kernels.value == near(200e-6));
  CHECK(run_once(experiment, {.name = "s", .order = {}, .streams = {}}, {}).time.value < 210e-6);
}

}  // namespace c3::workloads_lower_bound_test
