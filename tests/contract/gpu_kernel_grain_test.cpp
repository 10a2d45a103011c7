// A kernel's time and bytes do not depend on its grain: cohorts (the default), single work groups (exact), one
// fluid flow (fast). Where times are drawn, means over seeds are compared.

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "gpu/kernels/gemm/gemm_choice.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "tests/support/gpu_bench.hpp"
#include "tests/support/mi300x_like.hpp"
#include "tests/support/near.hpp"
#include "tests/support/recording.hpp"

namespace c3::gpu_kernel_grain_test {

using namespace literals;
using namespace test;

namespace {

constexpr int kSeeds = 8;

struct Scene {
  std::string name;
  GemmShape shape;
  int cus_per_xcd = 38;     ///< that the kernel may use
  BytesPerSecond hbm = {};  ///< reads, writes and copies; MI300X's measured rates when 0
  Bytes hog = {};           ///< in flight at HBM for another stream that reads all the time
};

const std::vector<Scene> kAlone = {
    {.name = "two waves", .shape = {4096, 8192, 8192}},
    {.name = "six waves", .shape = {2048, 57344, 4096}},
    {.name = "two waves that add to memory",
     .shape = {.m = 4096, .n = 8192, .k = 2048, .result = GemmResult::added_fp32}},
    {.name = "one partial wave", .shape = {2048, 4864, 8192}},
    {.name = "masked to 30 of 38 CUs", .shape = {8192, 8192, 4096}, .cus_per_xcd = 30},
    {.name = "HBM-bound on 64 CUs", .shape = {4096, 6144, 1024}, .cus_per_xcd = 8, .hbm = 0.05_TBps},
};

const std::vector<Scene> kBesideHog = {
    {.name = "compute-bound", .shape = {4096, 8192, 8192}, .hog = 3.0_MB},
    {.name = "masked", .shape = {8192, 8192, 4096}, .cus_per_xcd = 30, .hog = 3.0_MB},
    {.name = "HBM-bound", .shape = {4096, 6144, 1024}, .cus_per_xcd = 8, .hbm = 0.05_TBps, .hog = 3.0_MB},
};

/// Bandwidths measured on an MI300X; work groups' times spread by 2 %.
GpuSpec gpu_of(const Scene& scene) {
  GpuSpec gpu = mi300x_like_gpu();
  gpu.dispatch.work_group_spread = 0.02;
  gpu.cache.l2_bandwidth = 4.3_TBps;
  gpu.cache.xcd_port_bandwidth = 2.15_TBps;
  gpu.cache.llc_bandwidth = 17.2_TBps;
  gpu.hbm.peak = 5.3_TBps;
  gpu.hbm.read = 4.73_TBps;
  gpu.hbm.write = 5.14_TBps;
  gpu.hbm.copy = 3.38_TBps;
  if (scene.hbm.value > 0.0) gpu.hbm.peak = gpu.hbm.read = gpu.hbm.write = gpu.hbm.copy = scene.hbm;
  return gpu;
}

struct Outcome {
  double time = 0.0;   ///< s
  double bytes = 0.0;  ///< at HBM, the kernel's
};

Task read_until(GpuBench* bench, Bytes outstanding, const GpuBench::Ran* kernel) {
  Memory& memory = bench->gpu.memory();
  while (kernel->end < 0.0) {
    const Bytes chunk = 50.0_MB;
    std::vector<Demand> demands;
    memory.add_hbm_read(demands, /*tenant=*/1, chunk);
    FlowSpec spec;
    spec.demands = demands;
    spec.weight = memory.weight(outstanding, 1, chunk, memory.alone_rate(chunk, Bytes{}));
    RunningFlow reading(bench->simulation, spec);
    co_await reading;
  }
}

Outcome run(const Scene& scene, KernelGrain grain, std::uint64_t seed) {
  Recording seen;
  GpuBench bench(gpu_of(scene), &seen, {{"a", "b"}, {}, seed});
  KernelLaunch launch;
  launch.grain = grain;
  launch.range = {0, scene.cus_per_xcd};
  const auto& ran = bench.launch(0.0_s, describe_gemm("gemm", scene.shape, bench.spec), launch);
  if (scene.hog.value > 0.0) bench.simulation.spawn("hog", read_until(&bench, scene.hog, &ran));
  bench.run();
  return {ran.span(), seen.total("gpu0.memory_side.a")};
}

Outcome mean(const Scene& scene, KernelGrain grain) {
  Outcome sum;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Outcome one = run(scene, grain, seed);
    sum.time += one.time / kSeeds;
    sum.bytes += one.bytes / kSeeds;
  }
  return sum;
}

/// Relative, against single work groups.
struct Tolerance {
  double cohort_time, fluid_time, cohort_bytes, fluid_bytes;
};

void check_that_grains_agree(const std::vector<Scene>& scenes, Tolerance tolerance) {
  for (const Scene& scene : scenes) {
    CAPTURE(scene.name);
    const Outcome exact = mean(scene, KernelGrain::work_group);
    const Outcome cohorts = mean(scene, KernelGrain::cohort);
    const Outcome fluid = run(scene, KernelGrain::fluid, /*seed=*/0);  // draws nothing
    CHECK(cohorts.time == near(exact.time, tolerance.cohort_time));
    CHECK(fluid.time == near(exact.time, tolerance.fluid_time));
    CHECK(cohorts.bytes == near(exact.bytes, tolerance.cohort_bytes));
    CHECK(fluid.bytes == near(exact.bytes, tolerance.fluid_bytes));
  }
}

}  // namespace

// If arithmetic and HBM take about equally long, the fluid kernel overlaps them once, work groups each for
// themselves.
TEST_CASE("a kernel alone takes the same time and the same HBM bytes at all grains") {
  check_that_grains_agree(
      kAlone, {.cohort_time = 0.01, .fluid_time = 0.025, .cohort_bytes = 0.01, .fluid_bytes = 0.01});
}

// The fluid kernel counts its bytes once, when the hog still has HBM to itself and pollutes the LLC most.
TEST_CASE("a kernel beside a bandwidth hog takes the same time at all grains") {
  check_that_grains_agree(kBesideHog,
                          {.cohort_time = 0.01, .fluid_time = 0.02, .cohort_bytes = 0.01, .fluid_bytes = 0.16});
}

namespace {

/// Groups of 4 waves, eight of which fit on a CU, that compute for 2 us each.
KernelDescription rows(std::int64_t work_groups) {
  KernelDescription kernel = plain_kernel("rows", work_groups, 2.0_us);
  kernel.needs = {.lds = {}, .registers = 16.0_KiB, .waves = 4};
  kernel.clock = mi300x_like_gpu().compute.boost_clock;
  return kernel;
}

/// Kernels enqueued together on two streams, the first one first. \returns when the later one ends.
double time_together(const KernelDescription& first, const KernelDescription& second, KernelGrain grain) {
  constexpr int kDraws = 8;
  double sum = 0.0;
  for (std::uint64_t seed = 0; seed < kDraws; ++seed) {
    GpuBench bench(gpu_of({}), nullptr, {{"a", "b"}, {}, seed});
    KernelLaunch launch;
    launch.grain = grain;
    const auto& ran_first = bench.launch(0.0_s, first, launch);
    launch.stream = launch.order = 1;
    const auto& ran_second = bench.launch(0.0_s, second, launch);
    bench.run();
    sum += std::max(ran_first.end, ran_second.end) / kDraws;
  }
  return sum;
}

}  // namespace

// Work groups of a fluid kernel's last wave end together, so that the second one finds no slot within it.
TEST_CASE("two kernels together take the same time at all grains") {
  const GpuSpec gpu = gpu_of({});
  const auto gemm = [&](GemmShape shape) { return describe_gemm("gemm", shape, gpu); };
  const std::vector<std::pair<KernelDescription, KernelDescription>> pairs = {
      {gemm({4096, 8192, 4096}), gemm({2048, 8192, 8192})},
      {gemm({512, 4096, 1024}), gemm({1024, 4096, 1024})},
      {rows(40'000), gemm({4096, 8192, 4096})},
      {gemm({512, 4096, 1024}), rows(40'000)},
  };
  for (const auto& [first, second] : pairs) {
    CAPTURE(first.work_groups);
    CAPTURE(second.work_groups);
    const double exact = time_together(first, second, KernelGrain::work_group);
    CHECK(time_together(first, second, KernelGrain::cohort) == near(exact, 0.01));
    CHECK(time_together(first, second, KernelGrain::fluid) == near(exact, 0.05));
  }
}

// 2,432 groups are eight on each of 304 CUs, all wavefronts that fit, and end at one instant. The GEMM, whose
// clock is lower, waits for them.
TEST_CASE("a kernel that waits for slots leaves the clock to those that run, at all grains") {
  for (const KernelGrain grain : {KernelGrain::work_group, KernelGrain::cohort, KernelGrain::fluid}) {
    const auto end_of_rows = [grain](bool is_followed) {
      GpuSpec gpu = gpu_of({});
      gpu.dispatch.work_group_spread = 0.0;
      GpuBench bench(gpu, nullptr, {{"a", "b"}, {}, 0});
      KernelLaunch launch;
      launch.grain = grain;
      const auto& ran = bench.launch(0.0_s, rows(8 * 304), launch);
      launch.stream = launch.order = 1;
      if (is_followed) bench.launch(0.0_s, describe_gemm("gemm", {4096, 8192, 4096}, bench.spec), launch);
      bench.run();
      return ran.end;
    };
    CHECK(end_of_rows(true) == near(end_of_rows(false), 1e-12));
  }
}

}  // namespace c3::gpu_kernel_grain_test
