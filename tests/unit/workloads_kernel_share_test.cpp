// Kernels tuned for what a stream has of the GPU beside others.

#include <doctest/doctest.h>

#include "configs/presets/preset_store.hpp"
#include "gpu/kernels/convolution/convolution_shape.hpp"
#include "gpu/kernels/describe.hpp"
#include "gpu/kernels/gemm/gemm_choice.hpp"
#include "tests/support/near.hpp"
#include "tests/unit/workloads_pair.hpp"
#include "workloads/execute/kernel_share.hpp"

namespace c3::workloads_kernel_share_test {

using namespace test;

namespace {

/// With a tile of a quarter of the size beside the large one, so that there is a choice.
WrittenExperiment choosing_pair() {
  WrittenExperiment experiment = pair();
  experiment.cluster.gpu.library_kernels.matrix_tiles.push_back({.m = 128, .n = 128, .k = 64, .waves = 4});
  return experiment;
}

Strategy tuned(StreamPolicy gather = {}) {
  Strategy strategy = in_order({"fsdp", "compute"});
  strategy.streams["compute"].kernel_selection = KernelSelection::shared;
  strategy.streams["fsdp"] = std::move(gather);
  return strategy;
}

KernelSlice share(const Experiment& experiment, const Strategy& strategy, const CuChoice& choice = {0, 0}) {
  return share_of(experiment, strategy, cu_ranges(experiment, strategy, choice), 0);
}

/// \p streams of one product each, on CUs of 32 an XCD, which divide evenly.
WrittenExperiment equal_products(const GemmShape& gemm, int streams) {
  WrittenExperiment experiment = pair();
  experiment.cluster.gpu.compute.cus_per_xcd = 32;
  experiment.streams.clear();
  for (int i = 0; i < streams; ++i)
    experiment.streams.push_back({"s" + std::to_string(i), {{"gemm " + std::to_string(i), gemm}}});
  return experiment;
}

/// Every stream of \p experiment has its part of the CUs by a mask, and kernels for it.
double time_in_parts(const Experiment& experiment) {
  const int streams = static_cast<int>(experiment.program.streams.size());
  Strategy strategy = in_order();
  for (const std::string& stream : experiment.program.streams) {
    strategy.streams[stream].cus = {256 / streams, 256 / streams};
    strategy.streams[stream].kernel_selection = KernelSelection::shared;
  }
  RunSetup setup;
  setup.cus = CuChoice(experiment.program.streams.size(), 256 / streams);
  return run_once(experiment, strategy, setup).time.value;
}

double time_in_turn(const Experiment& experiment) {
  Strategy strategy = in_order();
  strategy.serial = true;
  return run_once(experiment, strategy, {}).time.value;
}

}  // namespace

TEST_CASE("beside 56 channels a stream's kernels are tuned for the other 248 of 304 CUs") {
  const KernelSlice slice = share(pair(), tuned());
  CHECK(slice.cus == 304 - 56);
  CHECK(slice.cache == 1.0);
}

TEST_CASE("a strategy that limits channels to 16 leaves 288 CUs") {
  CHECK(share(pair(), tuned({.cus = {}, .method = {.channels = {.most = 16}}})).cus == 304 - 16);
}

TEST_CASE("channels that have CUs of their own are not taken off twice") {
  CHECK(share(pair(), tuned({.cus = {64, 64}}), {0, 64}).cus == 304 - 64);
}

TEST_CASE("copy engines, and streams that take turns, leave all CUs") {
  CHECK(share(pair(), tuned({.cus = {}, .backend = Backend::dma})).cus == 304);
  Strategy in_turn = tuned();
  in_turn.serial = true;
  CHECK(share(pair(), in_turn).cus == 304);
  const Experiment experiment = pair();
  CHECK(!kernel_shares(experiment, experiment.cluster, in_turn, {0, 0}).front());
}

TEST_CASE("of four streams with kernels each has a quarter of the CUs and of the caches") {
  const Experiment experiment = equal_products(gemm_of_tiles(8, 8), 4);
  const KernelSlice slice =
      share_of(experiment, in_order(), cu_ranges(experiment, in_order(), {0, 0, 0, 0}), 2);
  CHECK(slice.cus == 64);
  CHECK(slice.cache == 0.25);
}

TEST_CASE("a stream's products run by the plan that is fastest on its share, and other kernels as always") {
  const Experiment experiment = choosing_pair();
  const GpuSpec& gpu = experiment.cluster.gpu;
  const GemmShape shape = gemm_of_tiles(16, 16);  // 256 large tiles: one wave of 304 CUs, two of 248
  auto shares = kernel_shares(experiment, experiment.cluster, tuned(), {0, 0});
  REQUIRE(shares.front().has_value());
  CHECK(!shares.back());
  const KernelDescription kernel = shares.front()->describe(0, "gemm", shape);
  CHECK(kernel.work_groups == fastest_plan(shape, gpu, share(experiment, tuned())).work_groups);
  CHECK(kernel.work_groups == 1024);  // 4.1 waves of small tiles take less than two of large ones
  CHECK(describe("gemm", shape, gpu).work_groups == 256);
  CHECK(shares.front()->describe(0, "again", shape).name == "again");
}

TEST_CASE(
    "a stream's convolutions are never slower on its share than by kernels for the whole GPU, and some "
    "faster") {
  Experiment experiment = pair();
  experiment.cluster.gpu = load_gpu("mi300x");
  const GpuSpec& gpu = experiment.cluster.gpu;
  auto shares = kernel_shares(experiment, experiment.cluster, tuned(), {0, 0});
  REQUIRE(shares.front().has_value());
  const KernelSlice& slice = shares.front()->slice().value();
  bool is_faster = false;
  for (const ConvolutionPass pass :
       {ConvolutionPass::forward, ConvolutionPass::data, ConvolutionPass::weight}) {
    for (const std::int64_t batch : {1, 4, 16, 64}) {
      const ConvolutionShape shape{.batch = batch,
                                   .channels = 256,
                                   .filters = 256,
                                   .image = {28, 28},
                                   .filter = {3, 3},
                                   .pad = {1, 1},
                                   .pass = pass};
      const Seconds as_always = time_alone(describe("c", shape, gpu), gpu, slice).time;
      const Seconds of_share = time_alone(shares.front()->describe(0, "c", shape), gpu, slice).time;
      CHECK(of_share <= as_always);
      is_faster = is_faster || of_share < 0.99 * as_always;
    }
  }
  CHECK(is_faster);
}

TEST_CASE("kernels that are tuned alone, and shared kernels with the whole GPU, change nothing") {
  const Experiment experiment = choosing_pair();
  Strategy said = in_order({"fsdp", "compute"});
  said.streams["compute"].kernel_selection = KernelSelection::alone;
  const double usual = run_once(experiment, in_order({"fsdp", "compute"}), {}).time.value;
  CHECK(run_once(experiment, said, {}).time.value == usual);
  const StreamPolicy engines{.cus = {}, .backend = Backend::dma};
  Strategy beside_engines = in_order({"fsdp", "compute"});
  beside_engines.streams["fsdp"] = engines;
  CHECK(run_once(experiment, tuned(engines), {}).time.value ==
        run_once(experiment, beside_engines, {}).time.value);
}

TEST_CASE("a run with shared kernels says for how many CUs they were tuned") {
  const RunResult run = run_once(choosing_pair(), tuned(), {});
  REQUIRE(run.notes.size() == 1);
  CHECK(run.notes.front() == "kernels of 'compute' tuned for 248 CUs");
}

TEST_CASE("k equal products on 1/k of the CUs each take as long as one after another where waves are whole") {
  // 256 tiles: a wave of all 256 CUs, four of 64. In turn three more launches, first loads and stores.
  const double beside = time_in_parts(equal_products(gemm_of_tiles(16, 16), 4));
  const double in_turn = time_in_turn(equal_products(gemm_of_tiles(16, 16), 4));
  CHECK(beside == near(in_turn, 0.01));
  CHECK(beside == near(4 * wave_seconds() * 256 / 304, 0.05));
}

TEST_CASE("k equal products on 1/k of the CUs each never lose to one after another, whatever their size") {
  // k ceil(W / C) >= ceil(k W / C): waves of one stream round up once, those in turn k times.
  for (const int streams : {2, 4}) {
    for (const std::int64_t rows : {1, 3, 7, 16, 20, 33}) {
      for (const std::int64_t columns : {1, 5, 16, 17}) {
        const GemmShape gemm = gemm_of_tiles(rows, columns);
        CAPTURE(rows);
        CAPTURE(columns);
        const double in_turn = time_in_turn(equal_products(gemm, streams));
        CHECK(time_in_parts(equal_products(gemm, streams)) <= 1.001 * in_turn);
      }
    }
  }
}

}  // namespace c3::workloads_kernel_share_test
