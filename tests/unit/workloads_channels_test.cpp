// Experiments at memory_grain "channels": addresses, loads of channels and times.

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "tests/support/mi300x_like.hpp"
#include "tests/support/near.hpp"
#include "tests/support/written_experiment.hpp"
#include "workloads/execute/address_plan.hpp"
#include "workloads/execute/run.hpp"

using namespace c3;
using namespace c3::literals;
using namespace c3::test;

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
  const AddressPlan plan(experiment.cluster.gpu.hbm, experiment.program);
  std::map<std::int64_t, std::int64_t> ends;
  for_each_operation(experiment.program, [&](const Operation& operation) {
    for (const PlacedOperand& operand : plan.operands_of(operation)) {
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
    AddressPlan plan(experiment.cluster.gpu.hbm, experiment.program);
    const ChannelShares* const shares = plan.shares_of(experiment.program.scripts.front().streams[0][0]);
    REQUIRE(shares != nullptr);
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
  AddressPlan plan(experiment.cluster.gpu.hbm, experiment.program);
  const Operation& gather = experiment.program.scripts.front().streams[1][0];
  const ChannelShares* const even = plan.shares_of(gather, 64);
  CHECK(*std::ranges::max_element(even->read) == near(1.0 / 16));
  CHECK(*std::ranges::max_element(even->written) == near(1.0 / 16));
  CHECK(*std::ranges::max_element(plan.shares_of(gather, 56)->read) < 1.0 / 16);
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
