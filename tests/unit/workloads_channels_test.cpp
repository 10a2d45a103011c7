// Experiments at memory_grain "channels": addresses, loads of channels and times.

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "configs/presets/preset_store.hpp"
#include "gpu/kernels/convolution/convolution_shape.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "tests/support/mi300x_like.hpp"
#include "tests/support/near.hpp"
#include "tests/support/written_experiment.hpp"
#include "workloads/execute/address_plan.hpp"
#include "workloads/execute/buffer_reach.hpp"
#include "workloads/execute/run.hpp"

namespace c3::workloads_channels_test {

using namespace literals;
using namespace test;

namespace {

constexpr GemmShape kThin{.m = 4096, .n = 64, .k = 4096, .dtype = DType::bf16};
const CollectiveCall kGather{.kind = CollectiveKind::all_gather, .bytes = 256.0_MiB};

Experiment beside(ChannelMapping mapping, MemoryGrain grain = MemoryGrain::channels) {
  WrittenExperiment experiment{.name = "channels",
                               .cluster = mi300x_like_cluster(),
                               .streams = {{"compute", {{"thin", kThin}}}, {"gather", {{"gather", kGather}}}},
                               .strategies = {{.name = "default", .order = {}, .streams = {}}},
                               .measure = {}};
  HbmSpec& hbm = experiment.cluster.gpu.hbm;
  hbm.peak = hbm.read = hbm.write = hbm.copy = 1.0_TBps;
  hbm.channels = {.count = 128, .row_cycle = {}, .mapping = mapping};
  experiment.measure.kernel_grain = experiment.measure.vector_grain = KernelGrain::fluid;
  experiment.measure.memory_grain = grain;
  return experiment;
}

RunResult run(const Experiment& experiment) { return run_once(experiment, experiment.strategies.front(), {}); }

}  // namespace

TEST_CASE("operands have addresses of their own, large ones at multiples of 2 MiB") {
  const Experiment experiment = beside(ChannelMapping::consecutive);
  const AddressPlan plan(experiment.cluster.gpu, experiment.program);
  std::map<std::int64_t, std::int64_t> ends;
  for_each_operation(experiment.program, [&](const Operation& operation) {
    const std::vector<TouchedPhase> phases = plan.phases_of(operation);
    for (const TouchedTensor& operand : phases.at(0).operands) {
      const auto bytes = static_cast<std::int64_t>(operand.bytes.value);
      if (bytes >= 1 << 20) CHECK(operand.footprint.start % (2 << 20) == 0);
      CHECK(operand.footprint.start % 512 == 0);
      CHECK(ends.emplace(operand.footprint.start, operand.footprint.start + bytes).second);
    }
  });
  CHECK(ends.size() == 5);  // A, B and C, and what is gathered and its result
  std::int64_t free = 0;
  for (const auto& [begin, end] : ends) {
    CHECK(begin >= free);
    free = end;
  }
}

TEST_CASE("rows of a product whose length is all channels' blocks lie in one channel, and IPOLY spreads them") {
  // 4,096 numbers of 2 bytes are 32 blocks: with 32 channels each row's first 128 bytes are in the same.
  for (const ChannelMapping mapping : {ChannelMapping::consecutive, ChannelMapping::ipoly}) {
    CAPTURE(name_of(mapping));
    Experiment experiment = beside(mapping);
    experiment.cluster.gpu.hbm.channels.count = 32;
    AddressPlan plan(experiment.cluster.gpu, experiment.program);
    const auto phases = plan.shares_of(experiment.program.scripts.front().streams[0][0]);
    REQUIRE(phases.size() == 1);
    const ChannelShares* const shares = phases.data();
    CHECK(std::accumulate(shares->read.begin(), shares->read.end(), 0.0) == near(1.0));
    const double most = *std::ranges::max_element(shares->read);
    if (mapping == ChannelMapping::consecutive) CHECK(most == near(1.0));
    if (mapping == ChannelMapping::ipoly) CHECK(most < 1.3 / 32);
  }
}

TEST_CASE(
    "channels of a collective that have equal parts of a power of two begin in the same channels of memory") {
  // 64 parts of 4 MiB, of which 4 KiB are in flight: 16 blocks, in the first 16 of 128 channels.
  const Experiment experiment = beside(ChannelMapping::consecutive);
  AddressPlan plan(experiment.cluster.gpu, experiment.program);
  const Operation& gather = experiment.program.scripts.front().streams[1][0];
  const ChannelShares* const even = plan.shares_of(gather, 64).data();
  CHECK(*std::ranges::max_element(even->read) == near(1.0 / 16));
  CHECK(*std::ranges::max_element(even->written) == near(1.0 / 16));
  CHECK(*std::ranges::max_element(plan.shares_of(gather, 56).front().read) < 1.0 / 16);
}

TEST_CASE("with a random mapping channels give the time of memory as a whole") {
  const RunResult channels = run(beside(ChannelMapping::random));
  const RunResult whole = run(beside(ChannelMapping::random, MemoryGrain::whole));
  CHECK(channels.time.value == near(whole.time.value, 1e-6));
  CHECK(channels.kernels.duration().value == near(whole.kernels.duration().value, 1e-6));
}

TEST_CASE("a product whose rows camp takes as much longer as its channels say, and no longer under IPOLY") {
  // Rows are 32 of 128 blocks apart: 4 channels have all of A and B.
  const Seconds whole = run(beside(ChannelMapping::ipoly, MemoryGrain::whole)).kernels.duration();
  const Experiment camping = beside(ChannelMapping::consecutive);
  const Seconds camps = run(camping).kernels.duration();
  const Bytes read = Bytes{2.0} * (4096.0 * 4096 + 4096.0 * 64);
  CHECK(camps >= read / camping.cluster.gpu.hbm.read * 32.0);
  CHECK(camps > 3.0 * whole);
  CHECK(run(beside(ChannelMapping::ipoly)).kernels.duration() < 1.2 * whole);
}

namespace {

/// Largest share that one channel has of what the main kernel of \p shape reads, times the channels: 1 is even.
double unevenness(const ConvolutionShape& shape, ChannelMapping mapping, int channels = 32) {
  Experiment experiment = WrittenExperiment{.name = "convolution",
                                            .cluster = mi300x_like_cluster(),
                                            .streams = {{"compute", {{"conv", shape}}}},
                                            .strategies = {},
                                            .measure = {}};
  experiment.cluster.gpu = load_gpu("mi100");
  experiment.cluster.gpu.hbm.channels = {.count = channels, .row_cycle = {}, .mapping = mapping};
  AddressPlan plan(experiment.cluster.gpu, experiment.program);
  const ChannelShares& shares = plan.shares_of(experiment.program.scripts.front().streams[0][0]).back();
  return channels * *std::ranges::max_element(shares.read);
}

constexpr ConvolutionShape kStage = {.batch = 32,
                                     .channels = 256,
                                     .filters = 64,
                                     .image = {32, 32},
                                     .filter = {1, 1},
                                     .dtype = DType::fp32,
                                     .solver = ConvolutionSolver::implicit_gemm};

}  // namespace

TEST_CASE("pixels of NHWC a power of two of channels long camp where planes of NCHW do not") {
  // 256 numbers of 4 B are 4 blocks, of which a step of 64 numbers touches one: 8 of 32 channels. In NCHW a
  // step is 64 planes of 4 KiB, 1,024 neighbouring blocks.
  ConvolutionShape together = kStage;
  together.layout = ImageLayout::nhwc;
  CHECK(unevenness(together, ChannelMapping::consecutive) == near(4.0, 0.05));  // filters beside them
  CHECK(unevenness(kStage, ChannelMapping::consecutive) < 1.1);
  CHECK(unevenness(together, ChannelMapping::ipoly) < 1.1);
}

TEST_CASE("channels of 28 x 28 pixels are no power of two apart, and do not camp in any mapping") {
  ConvolutionShape shape = kStage;
  shape.image = {28, 28};
  for (const ChannelMapping mapping : {ChannelMapping::consecutive, ChannelMapping::ipoly}) {
    CAPTURE(name_of(mapping));
    CHECK(unevenness(shape, mapping) < 1.1);
  }
}

TEST_CASE("each phase of a call loads the channels of its own tensors") {
  ConvolutionShape shape = kStage;
  shape.filter = {5, 5};
  shape.pad = {2, 2};
  shape.image = {28, 28};
  shape.solver = ConvolutionSolver::fft;
  Experiment experiment = WrittenExperiment{.name = "convolution",
                                            .cluster = mi300x_like_cluster(),
                                            .streams = {{"compute", {{"conv", shape}}}},
                                            .strategies = {},
                                            .measure = {}};
  experiment.cluster.gpu = load_gpu("mi100");
  experiment.cluster.gpu.hbm.channels = {.count = 32, .row_cycle = {}, .mapping = ChannelMapping::consecutive};
  AddressPlan plan(experiment.cluster.gpu, experiment.program);
  const Operation& convolution = experiment.program.scripts.front().streams[0][0];
  const auto shares = plan.shares_of(convolution);
  const auto phases = plan.phases_of(convolution);
  REQUIRE(shares.size() == 7);
  REQUIRE(phases.size() == 7);
  // The third, a transpose, writes 32 of 32 x 256 complex numbers of each point: 256 B each 64 KiB, in one
  // channel.
  CHECK(phases[2].name == "transpose of images");
  CHECK(*std::ranges::max_element(shares[2].written) == near(1.0));
  CHECK(*std::ranges::max_element(shares[0].read) == near(1.0 / 32));
}

TEST_CASE("a call is late by the phases that camp, and by no others") {
  // The first phase of an FFT streams; transposes and products of points are in one or two of 32 channels.
  ConvolutionShape shape = kStage;
  shape.filter = {5, 5};
  shape.pad = {2, 2};
  shape.image = {28, 28};
  shape.solver = ConvolutionSolver::fft;
  const auto time = [&](ChannelMapping mapping, MemoryGrain grain) {
    WrittenExperiment written{.name = "convolution",
                              .cluster = mi300x_like_cluster(),
                              .streams = {{"compute", {{"conv", shape}}}},
                              .strategies = {{.name = "default", .order = {}, .streams = {}}},
                              .measure = {}};
    written.cluster.gpu = load_gpu("mi100");
    written.cluster.gpu.hbm.channels = {.count = 32, .row_cycle = {}, .mapping = mapping};
    written.measure.kernel_grain = KernelGrain::fluid;
    written.measure.memory_grain = grain;
    return run(written).time;
  };
  const Seconds whole = time(ChannelMapping::random, MemoryGrain::whole);
  CHECK(time(ChannelMapping::random, MemoryGrain::channels).value == near(whole.value, 1e-6));
  CHECK(time(ChannelMapping::consecutive, MemoryGrain::channels) > 4.0 * whole);
  CHECK(time(ChannelMapping::ipoly, MemoryGrain::channels) < 1.2 * whole);
}

TEST_CASE("tensors that camp are listed once, with what they reach with each mapping that the channels allow") {
  // Rows of A are 32 blocks apart, and a step of each is in one: 4 of 128 channels. C has rows of 128 B, two to
  // a block.
  Experiment experiment = beside(ChannelMapping::ipoly);
  const std::vector<BufferReach> reaches = buffer_reaches(experiment.cluster.gpu, experiment.program);
  REQUIRE(reaches.size() == 5);
  CHECK(reaches[0].name == "thin A");
  CHECK(reaches[0].reach.at(0).value() == near(1.0 / 32));
  CHECK(reaches[0].reach.at(2).value() > 0.8);
  CHECK(reaches[2].name == "thin C");
  CHECK(reaches[2].is_written);
  CHECK(reaches[2].reach.at(0).value() == near(1.0));
  CHECK(reaches[4].name == "gather result");
  experiment.cluster.gpu.hbm.channels.count = 96;
  experiment.cluster.gpu.hbm.channels.mapping = ChannelMapping::consecutive;
  const std::vector<BufferReach> of_96 = buffer_reaches(experiment.cluster.gpu, experiment.program);
  CHECK(of_96[0].reach.at(0).value() == near(1.0 / 32, 0.01));  // gcd(32, 96); 4,096 rows in 3 channels
  for (std::size_t mapping = 1; mapping < kReachMappings.size(); ++mapping)
    CHECK(!of_96[0].reach.at(mapping));
}

}  // namespace c3::workloads_channels_test
