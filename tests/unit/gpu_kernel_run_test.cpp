// One kernel, or two, from release to last store, worked out by hand on a GPU of round numbers.

#include "gpu/kernel_run.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "tests/support/gpu_bench.hpp"
#include "tests/support/near.hpp"
#include "tests/support/recording.hpp"

namespace c3::gpu_kernel_run_test {

using namespace literals;
using namespace test;

TEST_CASE("one work group: launch delay, then prologue, steady flow and stores, one after another") {
  // 2 MB of first loads take 2 us at 1 TB/s (more than the 1 us of latency); 9 us of compute hide the other 2
  // MB; 3 MB of stores take 3 us. With 0.5 us of delay before: 14.5 us.
  GpuBench bench(round_gpu());
  KernelDescription kernel = plain_kernel("k", 1, 9.0_us, 4.0_MB);
  kernel.prologue = 0.5;
  kernel.output = 3.0_MB;
  KernelLaunch launch;
  launch.delay = 0.5_us;
  const auto& ran = bench.launch(0.0_s, kernel, launch);
  bench.run();
  CHECK(ran.end == near(14.5e-6));
}

TEST_CASE("when a work group ends and no other takes its place, its neighbour gets the whole CU") {
  // Two of 9 us, drawn apart, on one CU: each has half until the first ends. No CU-second is lost: 1 us of
  // latency and the sum of their times, then 1 us for the stores of the last.
  GpuSpec gpu = round_gpu();
  gpu.compute.xcds = 1;
  gpu.dispatch.work_group_spread = 0.2;
  GpuBench bench(gpu, nullptr, {{"a", "b"}, {}, 7});
  KernelDescription kernel = plain_kernel("k", 2, 9.0_us);
  kernel.needs = {.lds = 32.0_KiB, .registers = {}, .waves = 4};
  kernel.prologue = 0.5;  // the latency is a flow of its own, which nobody shares
  KernelLaunch one_cu;
  one_cu.grain = KernelGrain::work_group;
  one_cu.range = {0, 1};
  const auto& ran = bench.launch(0.0_s, kernel, one_cu);
  bench.run();
  const RandomStream random(7, std::uint64_t{0});
  const double drawn = 2.0 + 0.2 * (random.normal(0) + random.normal(1));
  CHECK(ran.end == near(1e-6 + drawn * 9e-6 + 1e-6));
}

TEST_CASE("two work groups on one CU share its arithmetic, two that only copy do not") {
  const auto time_of = [](bool computes) {
    GpuBench bench(round_gpu());
    KernelDescription kernel = plain_kernel("k", 16, 9.0_us);  // two for each of 8 CUs
    kernel.needs.lds = 32.0_KiB;
    kernel.needs.computes = computes;
    const auto& ran = bench.launch(0.0_s, kernel);
    bench.run();
    return ran.end;
  };
  CHECK(time_of(true) == near(1e-6 + 2 * 9e-6 + 1e-6));
  CHECK(time_of(false) == near(1e-6 + 9e-6 + 1e-6));
}

// A short and a long kernel on every CU ask for 2/3 and 20/21 of it, so each has half: the short one's
// arithmetic takes 2 us / 0.5 = 4 us, the long one's would take 40 us. When the short one has left, the long
// one has done a tenth, and the rest goes at its pace alone, (1 + 20) us. Its stores are 1 us more.
TEST_CASE("a kernel whose neighbour has left the CU goes on at its pace alone") {
  for (const KernelGrain grain : {KernelGrain::cohort, KernelGrain::work_group, KernelGrain::fluid}) {
    CAPTURE(static_cast<int>(grain));
    GpuBench bench(round_gpu());
    KernelLaunch launch;
    launch.grain = grain;
    const auto on_every_cu = [](const char* name, Seconds time) {
      KernelDescription kernel = plain_kernel(name, 8, time);
      kernel.needs.lds = 16.0_KiB;
      return kernel;
    };
    bench.launch(0.0_s, on_every_cu("short", 2.0_us), launch);
    launch.stream = launch.order = 1;
    const auto& ran = bench.launch(0.0_s, on_every_cu("long", 20.0_us), launch);
    bench.run();
    const double stores =
        grain == KernelGrain::fluid ? 0.9e-6 : 1e-6;  // a fluid kernel does a tenth of them, too
    CHECK(ran.end == near(4e-6 + 0.9 * 21e-6 + stores));
  }
}

// Alone until 10 us, at (10 - 0) / 21 of its work; then both have half of the CU: the long one's rest would
// take 40 us times what is left, the newcomer's 4 us.
TEST_CASE("a kernel that joins a CU slows the work groups in flight there") {
  for (const KernelGrain grain : {KernelGrain::cohort, KernelGrain::work_group}) {
    CAPTURE(static_cast<int>(grain));
    GpuBench bench(round_gpu());
    KernelLaunch launch;
    launch.grain = grain;
    KernelDescription resident = plain_kernel("resident", 8, 20.0_us);
    KernelDescription newcomer = plain_kernel("newcomer", 8, 2.0_us);
    resident.needs.lds = newcomer.needs.lds = 16.0_KiB;
    const auto& ran = bench.launch(0.0_s, resident, launch);
    launch.stream = launch.order = 1;
    bench.launch(10.0_us, newcomer, launch);
    bench.run();
    const double left = 1.0 - 10.0 / 21.0 - 4.0 / 40.0;
    CHECK(ran.end == near(14e-6 + left * 21e-6 + 1e-6));
  }
}

TEST_CASE("the next wave starts when the slots are free and does not wait for the stores") {
  // Three waves of 1 us + 9 us; the last one's 8 x 1 MB are stored in 8 us.
  GpuBench bench(round_gpu());
  KernelDescription kernel = plain_kernel("k", 24, 9.0_us);
  kernel.output = 1.0_MB;
  const auto& ran = bench.launch(0.0_s, kernel);
  bench.run();
  CHECK(ran.end == near(3 * 10e-6 + 8e-6));
}

// 16 tiles of 1 + 9 us on two XCDs of four CUs, and 1 us for the last stores.
TEST_CASE("blocks of a persistent kernel go through their tiles, and late ones begin when others end") {
  for (const KernelGrain grain : {KernelGrain::cohort, KernelGrain::work_group, KernelGrain::fluid}) {
    CAPTURE(static_cast<int>(grain));
    const auto time_on = [&](int cus_per_xcd, PersistentBlocks persistent) {
      GpuBench bench(round_gpu());
      KernelDescription kernel = plain_kernel("k", 16, 9.0_us);
      kernel.persistent = persistent;
      KernelLaunch launch;
      launch.grain = grain;
      launch.range = {0, cus_per_xcd};
      const auto& ran = bench.launch(0.0_s, kernel, launch);
      bench.run();
      return ran.end;
    };
    CHECK(time_on(4, {}) == near(21e-6));
    CHECK(time_on(4, {.blocks = 8, .own_tiles = 2}) == near(21e-6));
    CHECK(time_on(3, {}) == near(31e-6));
    CHECK(time_on(3, {.blocks = 8, .own_tiles = 2}) == near(41e-6));
    CHECK(time_on(3, {.blocks = 8, .own_tiles = 1}) == near(31e-6));
  }
}

TEST_CASE("a block of a persistent kernel begins on the CU that another kernel leaves") {
  // The other holds a CU of each XCD for 11 us. Then a late block of two tiles begins there and ends at 31 us.
  GpuBench bench(round_gpu(), nullptr, {{"a", "b"}, {}, 0});
  KernelLaunch first = on_stream(1);
  first.range = {0, 1};
  bench.launch(0.0_s, plain_kernel("other", 2, 9.0_us), first);
  KernelDescription kernel = plain_kernel("k", 16, 9.0_us);
  kernel.persistent = {.blocks = 8, .own_tiles = 2};
  KernelLaunch launch = on_stream(0);
  launch.delay = 0.1_us;
  const auto& ran = bench.launch(0.0_s, kernel, launch);
  bench.run();
  CHECK(ran.end == near(10e-6 + 2 * 10e-6 + 1e-6));
}

TEST_CASE("a kernel enqueued behind a big one waits for its last full wave, unless its queue is served first") {
  // "big" runs 3 full waves of 1 + 9 us; "late" comes at 5 us and takes 1 + 4 + 1 us.
  const auto end_of_late = [](int priority, Isolation isolation, bool behind) {
    GpuBench bench(round_gpu(), nullptr, {{"a", "b"}, isolation, 0});
    if (behind) bench.launch(0.0_s, plain_kernel("big", 24, 9.0_us));
    KernelLaunch launch = on_stream(1);
    launch.priority = priority;
    const auto& late = bench.launch(5.0_us, plain_kernel("late", 8, 4.0_us), launch);
    bench.run();
    return late.end;
  };
  CHECK(end_of_late(0, {}, false) == near(11e-6));
  CHECK(end_of_late(0, {}, true) == near(36e-6));
  CHECK(end_of_late(1, {}, true) == near(16e-6));
  CHECK(end_of_late(0, Isolation().with(SharedResource::dispatch), true) == near(16e-6));
  CHECK(end_of_late(0, Isolation().with(SharedResource::cus), true) == near(11e-6));
}

TEST_CASE("a kernel of half the clock halves the speed of work groups that start beside it") {
  // "slow" holds a CU of XCD 0 for 26 us and more. "k" has 4 work groups on each XCD, of 4 us at 1 GHz and
  // so of 8 us now; XCD 0 runs them in two waves on its 3 other CUs.
  GpuBench bench(with_fast_memory(round_gpu()));
  KernelDescription slow = plain_kernel("slow", 1, 25.0_us);
  slow.clock = 500.0_MHz;
  bench.launch(0.0_s, slow);
  const auto& ran = bench.launch(0.0_s, plain_kernel("k", 8, 4.0_us), on_stream(1));
  bench.run();
  CHECK(ran.end == near(2 * 9e-6 + 1e-6));
}

TEST_CASE("the clock is back when the slow kernel has ended") {
  GpuBench bench(with_fast_memory(round_gpu()));
  KernelDescription slow = plain_kernel("slow", 1, 5.0_us);
  slow.clock = 500.0_MHz;
  bench.launch(0.0_s, slow);
  const auto& ran = bench.launch(20.0_us, plain_kernel("k", 8, 4.0_us), on_stream(1));
  bench.run();
  CHECK(ran.span() == near(6e-6));
}

TEST_CASE("streams with private CUs do not see each other's clock or slots") {
  GpuBench bench(with_fast_memory(round_gpu()), nullptr,
                 {{"a", "b"}, Isolation().with(SharedResource::cus), 0});
  KernelDescription slow = plain_kernel("slow", 8, 25.0_us);
  slow.clock = 500.0_MHz;
  bench.launch(0.0_s, slow);
  const auto& ran = bench.launch(0.0_s, plain_kernel("k", 8, 4.0_us), on_stream(1));
  bench.run();
  CHECK(ran.end == near(6e-6));
}

TEST_CASE("observers: cohorts lie within their kernel, and start when who freed their slots has ended") {
  Recording seen;
  GpuBench bench(round_gpu(), &seen);
  KernelDescription kernel = plain_kernel("k", 40, 9.0_us, 0.1_MB);
  kernel.output = 0.5_MB;
  bench.launch(2.0_us, kernel);
  bench.run();

  const auto kernels = seen.of_kind(ActivityKind::kernel);
  REQUIRE(kernels.size() == 1);
  CHECK(kernels[0]->start == 2.0_us);
  const auto cohorts = seen.of_kind(ActivityKind::cohort);
  CHECK(cohorts.size() == 5 * 2 * 2);  // waves x XCDs x cohorts
  for (const auto* cohort : cohorts) {
    CHECK(cohort->parent == kernels[0]->id);
    CHECK(cohort->start >= kernels[0]->start);
    CHECK(cohort->end <= kernels[0]->end);
  }
  std::set<ActivityId> waited;
  for (const auto& edge : seen.dependencies) {
    const auto& before = seen.activity(edge.predecessor);
    const auto& after = seen.activity(edge.successor);
    if (edge.kind == DependencyKind::launch) CHECK(before.start <= after.start);
    if (edge.kind != DependencyKind::slot) continue;
    waited.insert(edge.successor);
    CHECK(before.end.value == near(after.start.value));
  }
  CHECK(waited.size() == 4 * 2 * 2);  // all but the first wave
}

TEST_CASE("fluid: a kernel takes its waves and the last stores, and the next has the GPU when it ends") {
  // 24 work groups on 8 CUs: 3 waves of 1 + 9 us and 1 us of stores; then 8 work groups in one.
  GpuBench bench(with_fast_memory(round_gpu()));
  KernelLaunch fluid;
  fluid.grain = KernelGrain::fluid;
  const auto& first = bench.launch(0.0_s, plain_kernel("first", 24, 9.0_us), fluid);
  const auto& second = bench.launch(1.0_us, plain_kernel("second", 8, 9.0_us), fluid);
  bench.run();
  CHECK(first.end == near(31e-6));
  CHECK(second.end == near(42e-6));
}

}  // namespace c3::gpu_kernel_run_test
