// Kernels on several streams of one GPU: together they take no longer than one after the other, at any grain.

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <string>
#include <vector>

#include "gpu/kernel_run.hpp"
#include "gpu/kernel_time.hpp"
#include "tests/support/gpu_bench.hpp"

namespace c3::kernels_together_test {

using namespace literals;
using namespace test;

namespace {

/// Whether work groups also wait for memory's latency and for steps that follow one another.
enum class Waits { never, also };

/// Caches that do not forget, a fixed clock, times that are not drawn, and an HBM that a mix does not slow:
/// what is left to share is CUs and bandwidth.
GpuSpec any_gpu(Waits waits) {
  GpuSpec gpu = round_gpu();
  if (waits == Waits::never) gpu.hbm.latency = Seconds{1e-15};
  gpu.compute.xcds = *rc::gen::inRange(1, 3);
  gpu.compute.cus_per_xcd = *rc::gen::inRange(1, 5);
  gpu.simulation.cohorts_per_placement = *rc::gen::inRange(1, 5);
  return gpu;
}

/// Work groups that compute, wait for memory, or both, the same number on every CU: whole waves, or one that
/// leaves room for others.
KernelDescription any_kernel(std::string name, const GpuSpec& gpu, Waits waits) {
  const double kilobytes = *rc::gen::element(4, 16, 32, 64);
  KernelDescription kernel = plain_kernel(std::move(name), 1, Seconds{*rc::gen::inRange(1, 50) * 1e-6},
                                          Bytes{*rc::gen::inRange(0, 40) * 1e5});
  kernel.needs.lds = Bytes{kilobytes * kKibi};
  kernel.needs.waves = *rc::gen::element(1, 2, 4, 8);
  if (*rc::gen::inRange(0, 2) == 0) kernel.prologue = 0.1;
  if (waits == Waits::also) {
    if (*rc::gen::inRange(0, 2) == 0) kernel.least_time = Seconds{*rc::gen::inRange(1, 60) * 1e-6};
    if (*rc::gen::inRange(0, 2) == 0) kernel.overlap = 4.0;
  }
  const int fit = work_groups_per_cu(gpu.compute, kernel.needs, kernel.name);
  const int on_cu =
      *rc::gen::inRange(0, 2) == 0 ? fit * *rc::gen::inRange(1, 4) : *rc::gen::inRange(1, fit + 1);
  kernel.work_groups = static_cast<std::int64_t>(on_cu) * gpu.compute.cus();
  return kernel;
}

using Stream = std::vector<KernelDescription>;

Task run_in_order(Gpu* gpu, Stream kernels, KernelLaunch launch, double* end) {
  for (const KernelDescription& kernel : kernels) {
    co_await run_kernel(*gpu, kernel, launch);
    ++launch.draw;
  }
  *end = gpu->simulation().now().value;
}

double time_of(const GpuSpec& gpu, const std::vector<Stream>& streams, KernelGrain grain) {
  GpuBench bench(gpu, nullptr, {{"a", "b", "c"}, {}, 0});
  std::vector<double> ends(streams.size());
  for (std::size_t i = 0; i < streams.size(); ++i) {
    KernelLaunch launch;
    launch.grain = grain;
    launch.range = {0, gpu.compute.cus_per_xcd};
    launch.stream = launch.order = static_cast<int>(i);
    bench.simulation.spawn("stream", run_in_order(&bench.gpu, streams[i], launch, &ends[i]));
  }
  bench.run();
  return std::ranges::max(ends);
}

/// Time together over the time in series of two or three streams of one to three kernels each.
double together_over_series(Waits waits, KernelGrain grain) {
  const GpuSpec gpu = any_gpu(waits);
  std::vector<Stream> streams(*rc::gen::inRange<std::size_t>(2, 4));
  double in_series = 0.0;
  for (Stream& stream : streams) {
    for (int i = *rc::gen::inRange(1, 4); i > 0; --i)
      stream.push_back(any_kernel("k" + std::to_string(i), gpu, waits));
    in_series += time_of(gpu, {stream}, grain);
  }
  return time_of(gpu, streams, grain) / in_series;
}

constexpr KernelGrain kGrains[] = {KernelGrain::work_group, KernelGrain::cohort, KernelGrain::fluid};

}  // namespace

// While a CU holds work groups its arithmetic is busy, or HBM is, or a kernel there has all it asks for.
// Progress of the kernels, each relative to its pace alone, then adds up to 1 at least.
TEST_CASE("property: kernels that only arithmetic and HBM hold up take no longer together than in series") {
  for (const KernelGrain grain : kGrains) {
    CAPTURE(static_cast<int>(grain));
    CHECK(rc::check([grain] { RC_ASSERT(together_over_series(Waits::never, grain) <= 1.0 + 1e-9); }));
  }
}

// A kernel that finds some of its slots taken goes through its grid in more and thinner waves, and each waits
// for memory and for its own steps once more.
TEST_CASE("property: waves that others break up cost little of the time in series") {
  for (const KernelGrain grain : kGrains) {
    CAPTURE(static_cast<int>(grain));
    int cases = 0, above_5_percent = 0;
    double most = 0.0;
    CHECK(rc::check([&] {
      const double ratio = together_over_series(Waits::also, grain);
      ++cases;
      above_5_percent += ratio > 1.05 ? 1 : 0;
      most = std::max(most, ratio);
      RC_ASSERT(ratio <= 1.15);
    }));
    CAPTURE(most);
    CHECK(above_5_percent <= 0.03 * cases);
  }
}

}  // namespace c3::kernels_together_test
