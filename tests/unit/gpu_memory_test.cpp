// HBM's capacity and how flows share it.

#include "gpu/memory.hpp"

#include <doctest/doctest.h>

#include <array>

#include "gpu/hbm_rate.hpp"
#include "tests/support/gpu_bench.hpp"
#include "tests/support/near.hpp"

namespace c3::gpu_memory_test {

using namespace literals;
using namespace test;

namespace {

HbmSpec asymmetric() {
  HbmSpec hbm = round_gpu().hbm;
  hbm.read = 4.0_TBps;
  hbm.write = 5.0_TBps;
  hbm.copy = 3.0_TBps;
  return hbm;
}

/// A flow of one tenant that would progress at `alone`.
struct Stream {
  int tenant = 0;
  Bytes bytes;
  Bytes outstanding;
  int requesters = 1;
  BytesPerSecond alone{1e12};
  bool writes = false;
  bool communicates = false;
};

class MemoryBench {
 public:
  explicit MemoryBench(const GpuSpec& gpu, Isolation isolation = {})
      : spec(gpu), memory(fluid, spec, 0, {"a", "b"}, isolation) {}

  FlowId start(const Stream& stream) {
    std::vector<Demand> demands;
    if (stream.writes) {
      memory.add_hbm_write(demands, stream.tenant, stream.bytes);
    } else {
      memory.add_hbm_read(demands, stream.tenant, stream.bytes);
    }
    FlowSpec flow;
    flow.demands = demands;
    flow.bound = (stream.alone / stream.bytes).value;
    if (stream.communicates) flow.priority = memory.communication_class();
    flow.weight = memory.weight(stream.outstanding, stream.requesters, stream.bytes, flow.bound);
    return fluid.start(flow, nullptr);
  }
  /// Bytes per second of both.
  std::array<double, 2> rates(const Stream& first, const Stream& second) {
    const FlowId a = start(first);
    const FlowId b = start(second);
    fluid.next_date();
    return {fluid.rate(a) * first.bytes.value, fluid.rate(b) * second.bytes.value};
  }

  GpuSpec spec;
  FluidSystem fluid;
  Memory memory;
};

GpuSpec with_arbitration(HbmArbitration arbitration) {
  GpuSpec gpu = round_gpu();
  gpu.hbm.arbitration = arbitration;
  return gpu;
}

}  // namespace

TEST_CASE("HBM capacity is the measured rate for reads, for writes and for a 1:1 copy") {
  const HbmSpec hbm = asymmetric();
  CHECK(hbm_capacity(hbm, 0.0).value == near(4e12));
  CHECK(hbm_capacity(hbm, 0.5).value == near(3e12));
  CHECK(hbm_capacity(hbm, 1.0).value == near(5e12));
  // 1/C = 0.75/4 + 0.25/5 + 0.75 t with t = 1/3 - 1/8 - 1/10.
  CHECK(hbm_capacity(hbm, 0.25).value == near(1e12 / (0.75 / 4 + 0.25 / 5 + 0.75 * (1.0 / 3 - 0.125 - 0.1))));
}

TEST_CASE("outstanding: streams share a full HBM by their bytes in flight, not by the sizes of their flows") {
  MemoryBench bench(with_arbitration(HbmArbitration::outstanding));
  const auto [a, b] = bench.rates({.bytes = 1.0_GB, .outstanding = 10.0_kB, .requesters = 2},
                                  {.tenant = 1, .bytes = 7.0_GB, .outstanding = 60.0_kB});
  CHECK(a == near(0.25e12));
  CHECK(b == near(0.75e12));
}

TEST_CASE("byte fair: every requester gets the same bytes per second") {
  MemoryBench bench(with_arbitration(HbmArbitration::byte_fair));
  const auto [a, b] = bench.rates({.bytes = 1.0_GB, .outstanding = 10.0_kB, .requesters = 4},
                                  {.tenant = 1, .bytes = 7.0_GB, .outstanding = 60.0_kB});
  CHECK(a == near(0.8e12));
  CHECK(b == near(0.2e12));
}

TEST_CASE("equal slowdown: each stream loses the same fraction of its speed alone") {
  MemoryBench bench(with_arbitration(HbmArbitration::equal_slowdown));
  const auto [a, b] = bench.rates({.bytes = 1.0_GB, .outstanding = 10.0_kB, .alone = 0.5_TBps},
                                  {.tenant = 1, .bytes = 7.0_GB, .outstanding = 60.0_kB, .alone = 1.0_TBps});
  CHECK(a == near(1e12 / 3));
  CHECK(b == near(2e12 / 3));
}

TEST_CASE("stream fair: a kernel and a collective have half each, however much each keeps in flight") {
  MemoryBench bench(with_arbitration(HbmArbitration::stream_fair));
  bench.start({.bytes = 1.0_GB, .outstanding = 10.0_kB});  // a second flow of the kernel's stream
  const auto [a, b] = bench.rates({.bytes = 1.0_GB, .outstanding = 10.0_kB},
                                  {.tenant = 1, .bytes = 7.0_GB, .outstanding = 60.0_kB, .communicates = true});
  CHECK(a == near(0.25e12));
  CHECK(b == near(0.5e12));
}

TEST_CASE("stream fair: a share that is not half") {
  GpuSpec gpu = with_arbitration(HbmArbitration::stream_fair);
  gpu.hbm.fair_share = 0.25;
  MemoryBench bench(gpu);
  const auto [a, b] = bench.rates({.bytes = 1.0_GB, .outstanding = 10.0_kB},
                                  {.tenant = 1, .bytes = 7.0_GB, .outstanding = 60.0_kB, .communicates = true});
  CHECK(a == near(0.25e12));
  CHECK(b == near(0.75e12));
}

TEST_CASE("stream fair: what one stream leaves, the other has") {
  MemoryBench bench(with_arbitration(HbmArbitration::stream_fair));
  const auto [a, b] = bench.rates({.bytes = 1.0_GB, .outstanding = 10.0_kB, .alone = 0.2_TBps},
                                  {.tenant = 1, .bytes = 7.0_GB, .outstanding = 60.0_kB, .communicates = true});
  CHECK(a == near(0.2e12));
  CHECK(b == near(0.8e12));
}

TEST_CASE("compute first: a collective has what a kernel leaves, and never less than it is promised") {
  GpuSpec gpu = with_arbitration(HbmArbitration::compute_first);
  gpu.hbm.stream_floor = 0.1;
  const Stream collective{.tenant = 1, .bytes = 7.0_GB, .outstanding = 60.0_kB, .communicates = true};
  MemoryBench full(gpu);
  const auto [a, b] = full.rates({.bytes = 1.0_GB, .outstanding = 10.0_kB}, collective);
  CHECK(a == near(0.9e12));
  CHECK(b == near(0.1e12));
  MemoryBench light(gpu);
  const auto [c, d] = light.rates({.bytes = 1.0_GB, .outstanding = 10.0_kB, .alone = 0.7_TBps}, collective);
  CHECK(c == near(0.7e12));
  CHECK(d == near(0.3e12));
}

TEST_CASE("an update counts as its bytes and keeps HBM busy for longer") {
  MemoryBench bench(round_gpu());
  std::vector<Demand> demands;
  bench.memory.add_hbm_update(demands, 1, 1.0_GB, 1.25);
  FlowSpec flow;
  flow.demands = demands;
  const FlowId update = bench.fluid.start(flow, nullptr);
  bench.fluid.next_date();
  CHECK(bench.fluid.rate(update) == near(1e12 / 1.25e9));
  CHECK(bench.memory.cache_state(0, 1, 1.0_us).llc_intruder.value == 0.0);  // past the caches
}

TEST_CASE("a stream that wants less than its share leaves the rest to the other") {
  MemoryBench bench(with_arbitration(HbmArbitration::outstanding));
  const auto [a, b] = bench.rates({.bytes = 1.0_GB, .outstanding = 10.0_kB, .alone = 0.1_TBps},
                                  {.tenant = 1, .bytes = 7.0_GB, .outstanding = 10.0_kB});
  CHECK(a == near(0.1e12));
  CHECK(b == near(0.9e12));
}

TEST_CASE("with an HBM each, streams do not slow each other") {
  MemoryBench bench(round_gpu(), Isolation().with(SharedResource::hbm));
  const auto [a, b] = bench.rates({.bytes = 1.0_GB, .outstanding = 10.0_kB},
                                  {.tenant = 1, .bytes = 7.0_GB, .outstanding = 60.0_kB});
  CHECK(a == near(1e12));
  CHECK(b == near(1e12));
}

TEST_CASE("the capacity settles on the mix that is served at that capacity") {
  GpuSpec gpu = round_gpu();
  gpu.hbm = asymmetric();
  MemoryBench bench(gpu);
  bench.rates({.bytes = 10.0_GB, .outstanding = 10.0_kB, .alone = 3.0_TBps},
              {.tenant = 1, .bytes = 10.0_GB, .outstanding = 10.0_kB, .alone = 0.6_TBps, .writes = true});
  std::vector<Demand> reading, writing;
  bench.memory.add_hbm_read(reading, 0, 1.0_B);
  bench.memory.add_hbm_write(writing, 0, 1.0_B);
  const ResourceId hbm = writing[0].resource;
  const ResourceId written = writing[1].resource;
  REQUIRE(reading[0].resource == hbm);
  const FlowSolver& rates = bench.fluid.rates();
  const double share = rates.load(written) / rates.load(hbm);
  CHECK(share == doctest::Approx(0.6 / 3.3).epsilon(0.2));  // the reader gives way first
  CHECK(rates.load(hbm) == near(rates.capacity(hbm)));
  CHECK(rates.capacity(hbm) == near(hbm_capacity(gpu.hbm, share).value, 1e-3));
}

TEST_CASE("a kernel finds what the others insert into the caches, and not what it inserts itself") {
  MemoryBench bench(round_gpu());
  bench.start({.tenant = 1, .bytes = 1.0_GB, .outstanding = 10.0_kB, .alone = 0.2_TBps});
  std::vector<Demand> pollution;
  bench.memory.add_l2_stream(pollution, 1, 1.0_GB);
  FlowSpec flow;
  flow.demands = pollution;
  flow.bound = 100.0;  // 0.1 TB/s
  bench.fluid.start(flow, nullptr);
  bench.fluid.next_date();

  const CacheState victim = bench.memory.cache_state(0, 5, 1.0_us);
  CHECK(victim.llc_intruder.value == near(0.2e12));
  CHECK(victim.l2_intruder.value == near(0.05e12));  // of each of two XCDs
  CHECK(victim.resident == 5);
  CHECK(victim.xcds == 2);
  const CacheState itself = bench.memory.cache_state(1, 5, 1.0_us);
  CHECK(itself.llc_intruder.value == 0.0);
  CHECK(itself.l2_intruder.value == 0.0);
}

TEST_CASE("with caches of its own a kernel finds no intruders") {
  MemoryBench bench(round_gpu(), Isolation().with(SharedResource::cache));
  bench.start({.tenant = 1, .bytes = 1.0_GB, .outstanding = 10.0_kB, .alone = 0.2_TBps});
  bench.fluid.next_date();
  CHECK(bench.memory.cache_state(0, 5, 1.0_us).llc_intruder.value == 0.0);
}

TEST_CASE("L2, its port and the memory side are bandwidths: the narrowest one limits a flow") {
  // 1 GB through one L2 at 0.3 TB/s, half of it through the port at 0.1 TB/s: 5 ms. Both XCDs at once take the
  // same.
  GpuSpec gpu = round_gpu();
  gpu.cache.l2_bandwidth = 0.3_TBps;
  gpu.cache.xcd_port_bandwidth = 0.1_TBps;
  MemoryBench bench(gpu);
  std::vector<FlowId> flows;
  for (int xcd = 0; xcd < 2; ++xcd) {
    std::vector<Demand> demands;
    bench.memory.add_loads(demands, 0, xcd, {.l2 = 1.0_GB, .llc = 0.5_GB, .hbm = {}}, 1.0);
    FlowSpec flow;
    flow.demands = demands;
    flows.push_back(bench.fluid.start(flow, nullptr));
  }
  CHECK(bench.fluid.next_date() == near(5e-3));
  CHECK(bench.fluid.rate(flows[1]) == near(200.0));
}

TEST_CASE("what an access pattern loses of HBM's rate keeps HBM busy, or only its kernel waiting") {
  // A kernel that reaches 0.8 of 1 TB/s, beside 0.5 TB/s that nothing hinders.
  const auto kernel_rate = [](double occupies, double rival_bytes) {
    GpuSpec gpu = with_arbitration(HbmArbitration::outstanding);
    gpu.hypotheses.lost_share_occupies = occupies;
    MemoryBench bench(gpu);
    std::vector<Demand> demands;
    bench.memory.add_loads(demands, 0, 0, {.l2 = 1.0_GB, .llc = 1.0_GB, .hbm = 1.0_GB}, 0.8);
    FlowSpec kernel;
    kernel.demands = demands;
    kernel.bound = 800.0;  // 1/s: alone
    kernel.weight = 1.0;
    const FlowId id = bench.fluid.start(kernel, nullptr);
    if (rival_bytes > 0.0)
      bench.start({.tenant = 1, .bytes = Bytes{rival_bytes}, .outstanding = 1000.0_GB, .alone = 0.5_TBps});
    bench.fluid.next_date();
    return bench.fluid.rate(id) * 1e9;
  };
  CHECK(kernel_rate(0.0, 0.0) == near(0.8e12));
  CHECK(kernel_rate(1.0, 0.0) == near(0.8e12));
  CHECK(kernel_rate(0.0, 1e9) == near(0.5e12));        // what is left
  CHECK(kernel_rate(1.0, 1e9) == near(0.8 * 0.5e12));  // its share of what is left
}

TEST_CASE("a load waits longer behind others of its channel, as far as HBM is not full") {
  GpuSpec gpu = round_gpu();
  MemoryBench idle(gpu);
  CHECK(idle.memory.least_loading_time(0, 1.0_GB, 1.0_MB).value == 0.0);  // no service time, no statement
  gpu.hypotheses.hbm_service = 100.0_ns;
  MemoryBench bench(gpu);
  CHECK(bench.memory.least_loading_time(0, 1.0_MB, 0.5_MB).value == near(2 * 1e-6));
  bench.start({.tenant = 1, .bytes = 1.0_GB, .outstanding = 1.0_MB, .alone = 0.8_TBps});
  bench.fluid.next_date();
  // 1 us + 100 ns x 0.8 / (2 x 0.2)
  CHECK(bench.memory.least_loading_time(0, 1.0_MB, 0.5_MB).value == near(2 * 1.2e-6));
  bench.start({.tenant = 1, .bytes = 1.0_GB, .outstanding = 1.0_MB, .alone = 0.8_TBps});
  bench.fluid.next_date();
  CHECK(bench.memory.least_loading_time(0, 1.0_MB, 1.0_MB).value == near(1e-6 + 100e-9 * 9.5));
}

TEST_CASE("the fabric carries what the memory side moves, whoever asks for it") {
  GpuSpec gpu = round_gpu();
  gpu.cache.llc_bandwidth = 2.0_TBps;
  gpu.cache.fabric_bandwidth = 0.4_TBps;
  MemoryBench bench(gpu);
  std::vector<Demand> hits;  // in the LLC: nothing for HBM to do
  bench.memory.add_loads(hits, 0, 0, {.l2 = 1.0_GB, .llc = 1.0_GB, .hbm = {}}, 1.0);
  FlowSpec kernel;
  kernel.demands = hits;
  kernel.bound = 1000.0;
  kernel.weight = 1.0;
  const FlowId id = bench.fluid.start(kernel, nullptr);
  bench.fluid.next_date();
  CHECK(bench.fluid.rate(id) * 1e9 == near(0.4e12));
  const FlowId copy = bench.start({.tenant = 1, .bytes = 1.0_GB, .outstanding = 1.0_GB, .alone = 0.1_TBps});
  bench.fluid.next_date();
  CHECK(bench.fluid.rate(id) * 1e9 + bench.fluid.rate(copy) * 1e9 == near(0.4e12));
}

}  // namespace c3::gpu_memory_test
