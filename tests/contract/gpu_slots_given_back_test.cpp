// A kernel that is one flow gives slots back when its work groups would: grids that wait beside it begin, and
// both end, as beside the same kernel work group by work group.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "engine/errors.hpp"
#include "engine/random.hpp"
#include "tests/support/gpu_bench.hpp"
#include "tests/support/near.hpp"

namespace c3::gpu_slots_given_back_test {

using namespace literals;
using namespace test;

namespace {

/// A grid on 8 CUs, of groups that compute for 10 us and fill a CU each, and one that comes later on a stream
/// of its own.
struct Meeting {
  std::string name;
  std::int64_t first = 0;       ///< work groups
  std::int64_t second = 0;      ///< those of the later grid
  Seconds at;                   ///< when that comes
  int priority = 0;             ///< and its priority
  Bytes second_lds = 64.0_KiB;  ///< of one of its groups: 64 KiB fill a CU
  Seconds second_time = 10.0_us;
};

// Each wave begins with a load of 1 us, which a flow spreads over all of them. [s]
constexpr double kLatency = 1.2e-6;

struct Ends {
  double first, second;
};

Ends run(const Meeting& meeting, KernelGrain grain, double spread = 0.0, std::uint64_t seed = 0) {
  GpuSpec gpu = with_fast_memory(round_gpu());
  gpu.dispatch.work_group_spread = spread;
  GpuBench bench(gpu, nullptr, {{"a", "b"}, {}, seed});
  KernelLaunch launch;
  launch.grain = grain;
  const auto& first = bench.launch(0.0_s, plain_kernel("first", meeting.first, 10.0_us), launch);
  launch.stream = launch.order = 1;
  launch.priority = meeting.priority;
  KernelDescription second = plain_kernel("second", meeting.second, meeting.second_time);
  second.needs.lds = meeting.second_lds;
  const auto& ran = bench.launch(meeting.at, second, launch);
  bench.run();
  return {first.end, ran.end};
}

const std::vector<Meeting> kMeetings = {
    {.name = "the last wave leaves four CUs", .first = 20, .second = 4, .at = 12.0_us},
    {.name = "it comes when the last wave is under way", .first = 20, .second = 4, .at = 26.0_us},
    {.name = "full waves leave none", .first = 24, .second = 4, .at = 12.0_us},
    {.name = "a higher priority waits for one wave", .first = 32, .second = 4, .at = 12.0_us, .priority = 1},
    {.name = "a higher priority takes all CUs", .first = 24, .second = 8, .at = 12.0_us, .priority = 1},
    {.name = "a lower priority waits for the last wave",
     .first = 20,
     .second = 4,
     .at = 2.0_us,
     .priority = -1},
    {.name = "one wave keeps its slots", .first = 8, .second = 8, .at = 2.0_us, .priority = 1},
    {.name = "it needs more than the last wave leaves", .first = 20, .second = 16, .at = 12.0_us},
};

}  // namespace

TEST_CASE("a flow gives slots back at the ends of waves, as its work groups do") {
  for (const Meeting& meeting : kMeetings) {
    CAPTURE(meeting.name);
    const Ends exact = run(meeting, KernelGrain::work_group), flow = run(meeting, KernelGrain::fluid);
    CHECK(std::abs(flow.first - exact.first) < kLatency);
    CHECK(std::abs(flow.second - exact.second) < kLatency);
  }
}

namespace {

/// Takes slots and never gives them back.
struct Holder final : DispatchClient {
  void on_placed(int, std::span<const int>) override {}
};

Task hold_all(GpuBench* bench, Seconds date, Holder* holder) {
  co_await bench->simulation.sleep(date);
  Launch launch;
  launch.client = holder;
  launch.needs = plain_kernel("holder", 1, 1.0_us).needs;
  launch.work_groups = 8;
  launch.range = {0, bench->spec.compute.cus_per_xcd};
  launch.priority = 1;
  bench->gpu.dispatcher(1).submit(launch);
}

}  // namespace

TEST_CASE("a flow that gave up its slots for ever is a deadlock, and no kernel that takes ages") {
  GpuBench bench(with_fast_memory(round_gpu()));
  KernelLaunch launch;
  launch.grain = KernelGrain::fluid;
  bench.launch(0.0_s, plain_kernel("kernel", 24, 10.0_us), launch);
  Holder holder;
  bench.simulation.spawn("holder", hold_all(&bench, 2.0_us, &holder));
  CHECK_THROWS_WITH_AS(bench.run(), doctest::Contains("CU slots for kernel"), DeadlockError);
}

// On each XCD the first CU that is left takes both of the later groups, which then take twice as long.
TEST_CASE("who waits for groups of unequal times crowds on the first CU that is left") {
  const Meeting meeting{
      .name = "", .first = 8, .second = 4, .at = 2.0_us, .second_lds = 32.0_KiB, .second_time = 100.0_us};
  const double together = run(meeting, KernelGrain::fluid).second;
  const double crowded = run(meeting, KernelGrain::fluid, 0.02).second;
  CHECK(crowded > 1.7 * together);
  CHECK(crowded == near(run(meeting, KernelGrain::work_group, 0.02).second, 0.05));
}

TEST_CASE("property: two grids end as they do work group by work group") {
  constexpr int kMeetingsDrawn = 300;
  for (int i = 0; i < kMeetingsDrawn; ++i) {
    const RandomStream random(/*seed=*/7, static_cast<std::uint64_t>(i));
    const auto drawn = [&](std::uint64_t key, double most) { return random.uniform(key) * most; };
    const Meeting meeting{.name = std::to_string(i),
                          .first = 1 + static_cast<std::int64_t>(drawn(0, 60)),
                          .second = 1 + static_cast<std::int64_t>(drawn(1, 12)),
                          .at = Seconds{drawn(2, 60e-6)},
                          .priority = static_cast<int>(drawn(3, 3)) - 1,
                          .second_time = Seconds{1e-6 + drawn(4, 30e-6)}};
    const Ends exact = run(meeting, KernelGrain::work_group), flow = run(meeting, KernelGrain::fluid);
    CAPTURE(meeting.name);
    CHECK(std::abs(flow.first - exact.first) < kLatency);
    CHECK(std::abs(flow.second - exact.second) < kLatency);
  }
}

}  // namespace c3::gpu_slots_given_back_test
