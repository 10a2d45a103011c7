// HBM as channels in the flow solver: what streams lose whose bytes are not in all of them alike.

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "gpu/channels/channel_load.hpp"
#include "gpu/memory.hpp"
#include "tests/support/gpu_bench.hpp"
#include "tests/support/near.hpp"

namespace c3::gpu_memory_channels_test {

using namespace literals;
using namespace test;

namespace {

/// Two tenants at a memory of 1 TB/s in 32 channels of consecutive blocks.
class ChannelBench {
 public:
  explicit ChannelBench(MemoryGrain grain = MemoryGrain::channels) : spec_(with(grain)) {}

  /// The same of \p footprint's addresses for all that \p tenant reads.
  void place(int tenant, const Footprint& footprint) {
    ChannelLoad load(mapping_);
    load.add(footprint);
    std::vector<double> shares = load.busy(spec_.hbm.read / 32.0);
    for (double& share : shares)
      share /= load.bytes();
    shares_.at(static_cast<std::size_t>(tenant)) = {.read = shares, .written = shares};
    memory_.place(tenant, &shares_.at(static_cast<std::size_t>(tenant)));
  }
  FlowId read(int tenant, double weight = 1.0) {
    std::vector<Demand> demands;
    memory_.add_hbm_read(demands, tenant, 1.0_GB);
    FlowSpec flow;
    flow.demands = demands;
    flow.weight = weight;
    return fluid_.start(flow, nullptr);
  }
  /// B/s over that of all channels.
  double rate(FlowId flow) {
    fluid_.next_date();
    return fluid_.rate(flow) * 1e9 / 1e12;
  }

 private:
  static GpuSpec with(MemoryGrain grain) {
    GpuSpec gpu = round_gpu();
    gpu.hbm.channels = {.count = 32, .row_cycle = {}, .mapping = ChannelMapping::consecutive};
    gpu.simulation.memory_grain = grain;
    return gpu;
  }

  GpuSpec spec_;
  FluidSystem fluid_;
  Memory memory_{fluid_, spec_, 0, {"a", "b"}, {}};
  AddressMapping mapping_{spec_.hbm.channels};
  std::array<ChannelShares, 2> shares_;
};

/// One of every \p blocks blocks.
Footprint strided(std::int64_t blocks, std::int64_t start = 0) {
  return {.start = 256 * start, .extent = 256, .rows = 1024, .stride = 256 * blocks};
}

}  // namespace

TEST_CASE("a stream reaches the share of memory that its stride leaves, in the solver as in the closed form") {
  for (const std::int64_t blocks : {1, 2, 4, 8, 16, 32, 64}) {
    CAPTURE(blocks);
    ChannelBench bench;
    bench.place(0, strided(blocks));
    CHECK(bench.rate(bench.read(0)) == near(std::max(1.0 / 32, 1.0 / static_cast<double>(blocks))));
  }
}

TEST_CASE("a stream that lies in all channels alike has all of memory, as at the whole grain") {
  ChannelBench channels, whole(MemoryGrain::whole);
  CHECK(channels.rate(channels.read(0)) == near(1.0));
  CHECK(whole.rate(whole.read(0)) == near(1.0));
}

TEST_CASE("two streams in one channel share it, in unlike channels have one each") {
  ChannelBench same;
  same.place(0, strided(32));
  same.place(1, strided(32, 32 * 77));
  const FlowId a = same.read(0), b = same.read(1);
  CHECK(same.rate(a) + same.rate(b) == near(1.0 / 32));
  CHECK(same.rate(a) == near(0.5 / 32));

  ChannelBench unlike;
  unlike.place(0, strided(32));
  unlike.place(1, strided(32, 1));
  const FlowId c = unlike.read(0), d = unlike.read(1);
  CHECK(unlike.rate(c) == near(1.0 / 32));
  CHECK(unlike.rate(d) == near(1.0 / 32));
}

TEST_CASE("a stream in all channels waits for the fullest, in which another camps") {
  // Equal weights: the camped channel gives each half, so that the stream in all of them has half of all.
  ChannelBench bench;
  bench.place(0, strided(32));
  const FlowId camping = bench.read(0), even = bench.read(1, 32.0);
  // Levels are rate over weight: 1/32 x + 1 y = 1/32 with x = 32 y.
  CHECK(bench.rate(camping) == near(0.5 / 32));
  CHECK(bench.rate(even) == near(0.5));
}

}  // namespace c3::gpu_memory_channels_test
