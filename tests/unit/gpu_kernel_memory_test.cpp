// What kernels move, where their stores wait and what they get of HBM, by hand on a GPU of round numbers.

#include "gpu/kernel_run.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/support/gpu_bench.hpp"
#include "tests/support/near.hpp"
#include "tests/support/recording.hpp"

namespace c3::gpu_kernel_memory_test {

using namespace literals;
using namespace test;

namespace {

/// A stream of another tenant that would fill HBM; \p demands must live as long as its start.
FlowSpec reading(const Memory& memory, std::vector<Demand>& demands, Bytes outstanding) {
  memory.add_hbm_read(demands, 1, 1.0_GB);
  FlowSpec spec;
  spec.demands = demands;
  spec.weight = memory.weight(outstanding, 1, 1.0_GB, memory.alone_rate(1.0_GB, 0.0_B));
  return spec;
}

}  // namespace

TEST_CASE("first loads and stores take a memory latency at least") {
  GpuBench bench(round_gpu());
  const auto& ran = bench.launch(0.0_s, plain_kernel("k", 1, 9.0_us));
  bench.run();
  CHECK(ran.end == near(1e-6 + 9e-6 + 1e-6));
}

TEST_CASE("an HBM-bound kernel takes its bytes over HBM bandwidth") {
  // 8 work groups at once: 8 x 4 MB at 1 TB/s = 32 us (latency and compute would take 10), 8 x 1 MB stored = 8
  // us.
  GpuBench bench(round_gpu());
  KernelDescription kernel = plain_kernel("k", 8, 9.0_us, 4.0_MB);
  kernel.output = 1.0_MB;
  const auto& ran = bench.launch(0.0_s, kernel);
  bench.run();
  CHECK(ran.end == near(40e-6));
}

// 80 work groups, 8 at once, have computed after 20 us and store 4 MB each: 320 us of HBM alone. A reader that
// asks for as much as 8 of them has half of it however many wait, and would have a tenth if all of them were at
// HBM.
TEST_CASE("stores that wait in the caches ask for no more of HBM than those of resident work groups") {
  for (const KernelGrain grain : {KernelGrain::cohort, KernelGrain::work_group}) {
    CAPTURE(static_cast<int>(grain));
    GpuBench bench(round_gpu());
    KernelDescription kernel = plain_kernel("k", 80, 1.0_us);
    kernel.output = 4.0_MB;
    KernelLaunch launch;
    launch.grain = grain;
    std::vector<Demand> stream;
    const RunningFlow beside(bench.simulation, reading(bench.gpu.memory(), stream, kernel.outstanding * 8.0));
    const auto& ran = bench.launch(0.0_s, kernel, launch);
    bench.run();
    CHECK(ran.end == near(640e-6, 0.03));
  }
}

// 1 us of latency and 1 us of arithmetic for each of 10 waves; a cache of 16 MB is full after two of them, and
// each further work group ends when its own stores have been served.
TEST_CASE("work groups keep their CUs while the last cache is full of stores") {
  const auto placed_last = [](Bytes cache) {
    GpuSpec gpu = round_gpu();
    gpu.cache.llc_size = cache;
    Recording seen;
    GpuBench bench(gpu, &seen);
    KernelDescription kernel = plain_kernel("k", 80, 1.0_us);
    kernel.output = 4.0_MB;
    bench.launch(0.0_s, kernel);
    bench.run();
    double last = 0.0;
    for (const auto* cohort : seen.of_kind(ActivityKind::cohort))
      last = std::max(last, cohort->start.value);
    return last;
  };
  CHECK(placed_last(1.0_GB) == near(18e-6));
  CHECK(placed_last(16.0_MB) > 200e-6);
}

// Two kernels on four of the eight CUs each: 5 waves of 2 us store 80 MB, which a cache of 90 MB holds, and 160
// MB together, which it does not: after three waves 96 MB are on their way, less the 6 MB that HBM has served.
TEST_CASE("stores of kernels on two streams fill one last cache, unless each has its own") {
  GpuSpec gpu = round_gpu();
  gpu.cache.llc_size = 90.0_MB;
  const auto placed_last = [&gpu](Seconds second, Isolation isolation) {
    Recording seen;
    GpuBench bench(gpu, &seen, {{"a", "b"}, isolation, 0});
    for (int stream = 0; stream < 2; ++stream) {
      KernelDescription kernel = plain_kernel("k", 20, 1.0_us);
      kernel.output = 4.0_MB;
      KernelLaunch launch = on_stream(stream);
      launch.range = {2 * stream, 2 * stream + 2};
      bench.launch(second * stream, kernel, launch);
    }
    bench.run();
    double last = 0.0;
    for (const auto* cohort : seen.of_kind(ActivityKind::cohort))
      last = std::max(last, cohort->start.value);
    return last;
  };
  CHECK(placed_last(0.0_s, {}) > 30e-6);
  CHECK(placed_last(0.0_s, Isolation().with(SharedResource::cache)) == near(8e-6));
  CHECK(placed_last(1.0_ms, {}) == near(1.008e-3));  // the first one's have been served
}

TEST_CASE("a kernel moves the bytes that its description says, at every level") {
  Recording seen;
  GpuBench bench(round_gpu(), &seen);
  KernelDescription kernel = plain_kernel("k", 20, 9.0_us);
  kernel.traffic = std::make_shared<FixedTraffic>(Traffic{.l2 = 4.0_MB, .llc = 2.0_MB, .hbm = 1.0_MB});
  kernel.prologue = 0.25;
  kernel.output = 0.5_MB;
  bench.launch(0.0_s, kernel);
  bench.run();
  CHECK(seen.total("gpu0.xcd0.l2") == near(10 * 4.5e6));
  CHECK(seen.total("gpu0.xcd1.port") == near(10 * 2.5e6));
  CHECK(seen.total("gpu0.hbm") == near(20 * 1.5e6));
  CHECK(seen.total("gpu0.hbm.written") == near(20 * 0.5e6));
  CHECK(seen.total("gpu0.memory_side.a") == near(20 * 1.5e6));
}

TEST_CASE("fluid: an HBM-bound kernel alone runs at the bandwidth of its own mix") {
  // Half its bytes are stores: 8 x (4 + 4) MB at the copy rate of 0.5 TB/s.
  GpuSpec gpu = round_gpu();
  gpu.hbm.copy = 0.5_TBps;
  GpuBench bench(gpu);
  KernelDescription kernel = plain_kernel("k", 8, 9.0_us, 4.0_MB);
  kernel.output = 4.0_MB;
  KernelLaunch fluid;
  fluid.grain = KernelGrain::fluid;
  const auto& ran = bench.launch(0.0_s, kernel, fluid);
  bench.run();
  CHECK(ran.end == near(128e-6));
}

TEST_CASE("equal slowdown: an HBM-bound kernel and a flow that alone would fill HBM get half each") {
  // 8 work groups of 4 MB: 32 us alone, whatever the number of cohorts; beside the other flow 64 us.
  for (const int cohorts : {1, 2, 4}) {
    GpuSpec gpu = round_gpu();
    gpu.hbm.arbitration = HbmArbitration::equal_slowdown;
    gpu.simulation.cohorts_per_placement = cohorts;
    GpuBench bench(gpu);
    Memory& memory = bench.gpu.memory();
    std::vector<Demand> hog;
    const RunningFlow beside(bench.simulation, reading(memory, hog, 1.0_MB));
    const auto& ran = bench.launch(0.0_s, plain_kernel("k", 8, 1.0_us, 4.0_MB));
    bench.run();
    CHECK(ran.end == near(64e-6 + 1e-6));
  }
}

TEST_CASE("a CU keeps no more loads in flight than it can, however many its work groups ask for") {
  // 8 work groups of 64 kB in flight on 8 CUs beside a stream with 64 kB: 8 to 1 of a full HBM; with at most 16
  // kB a CU, 2 to 1.
  const auto rate = [](std::optional<Bytes> of_cu, KernelGrain grain) {
    GpuSpec gpu = round_gpu();
    gpu.hbm.arbitration = HbmArbitration::outstanding;
    if (of_cu) gpu.compute.outstanding = *of_cu;
    GpuBench bench(gpu);
    Memory& memory = bench.gpu.memory();
    std::vector<Demand> stream;
    const RunningFlow beside(bench.simulation, reading(memory, stream, 64.0_kB));
    KernelDescription kernel = plain_kernel("k", 8, 1.0_us, 40.0_MB);
    kernel.outstanding = 64.0_kB;
    KernelLaunch launch;
    launch.grain = grain;
    launch.range = {0, gpu.compute.cus_per_xcd};
    const auto& ran = bench.launch(0.0_s, kernel, launch);
    bench.run();
    return 320e6 / ran.span();
  };
  const double full = round_gpu().hbm.read.value;
  for (const KernelGrain grain : {KernelGrain::cohort, KernelGrain::work_group, KernelGrain::fluid}) {
    CHECK(rate(std::nullopt, grain) == near(full * 8 / 9, 2e-2));
    CHECK(rate(64.0_kB, grain) == rate(std::nullopt, grain));
    CHECK(rate(16.0_kB, grain) == near(full * 2 / 3, 2e-2));
  }
}

TEST_CASE("work groups on one CU share what it can keep in flight") {
  ComputeSpec compute = round_gpu().compute;
  compute.outstanding = 32.0_kB;
  KernelDescription kernel = plain_kernel("k", 8, 1.0_us, 40.0_MB);
  kernel.outstanding = 20.0_kB;
  CHECK(in_flight(compute, kernel, 1) == 20.0_kB);
  CHECK(in_flight(compute, kernel, 2) == 16.0_kB);
}

TEST_CASE("write-back that is spread goes on beside what follows, and nobody waits for it") {
  // 20 us of latency and compute; 8 MB of stores would take 8 us at 1 TB/s, and take 20 us here.
  GpuSpec gpu = round_gpu();
  gpu.cache.write_back = WriteBack::spread;
  Recording recording;
  GpuBench bench(gpu, &recording);
  KernelDescription kernel = plain_kernel("k", 8, 19.0_us);
  kernel.output = 1.0_MB;
  const auto& ran = bench.launch(0.0_s, kernel);
  bench.run();
  CHECK(ran.end == near(20e-6));
  CHECK(bench.simulation.now().value == near(40e-6));
  CHECK(recording.total("gpu0.hbm.written") == near(8e6));
}

}  // namespace c3::gpu_kernel_memory_test
