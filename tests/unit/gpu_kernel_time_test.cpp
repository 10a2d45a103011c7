// The closed form of a kernel alone: waves, what overlaps, slices of the GPU, launches.

#include "gpu/kernel_time.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <memory>

#include "engine/errors.hpp"
#include "tests/support/gpu_bench.hpp"
#include "tests/support/near.hpp"
#include "tests/support/print_units.hpp"

namespace c3::gpu_kernel_time_test {

using namespace literals;
using namespace test;

namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

/// Two of them share a CU of round_gpu().
KernelDescription half_cu_kernel(std::int64_t work_groups, Seconds time) {
  KernelDescription kernel = plain_kernel("k", work_groups, time);
  kernel.needs.lds = 32.0_KiB;
  return kernel;
}

double microseconds(const KernelDescription& kernel, const GpuSpec& gpu = round_gpu(),
                    const KernelSlice& slice = {}) {
  return time_alone(kernel, gpu, slice).time.value * 1e6;
}

/// Remembers what it was asked.
class CacheWitness final : public TrafficModel {
 public:
  Traffic per_work_group(const CacheState& state) const override {
    seen = state;
    return {};
  }
  mutable CacheState seen;
};

}  // namespace

TEST_CASE("the last wave has what full waves leave, and its CUs share their arithmetic as far as it needs") {
  // 20 on 8 slots: 8, 8 and 4.
  CHECK(occupancy(20, 8, 3, 1) ==
        Occupancy{.resident = 8, .waves = 3, .sharing = 1, .last_sharing = 1, .first = 8, .last = 4});
  // Two on each of 8 CUs. 24: 16, then 8 on 8 CUs. 25: the 9th finds a CU that is taken.
  CHECK(occupancy(24, 16, 2, 2).last_sharing == 1);
  CHECK(occupancy(25, 16, 2, 2).last_sharing == 2);
  CHECK(occupancy(32, 16, 2, 2).last_sharing == 2);
  // Three on each of 8, 17 in the last wave: 3 CUs' worth of 2.125.
  CHECK(occupancy(24 + 17, 24, 2, 3).last_sharing == 3);
}

TEST_CASE("waves take a latency and the arithmetic each, then the last stores") {
  // 20 work groups of 10 us on 8 CUs: 3 waves of 1 + 10 us, and stores of 1 us latency.
  KernelDescription kernel = plain_kernel("k", 20, 10.0_us);
  const Occupancy waves = occupancy(20, 8, 3, 1);
  const auto time = [&](double slower = 1.0, Traffic traffic = {}) {
    return law_of_waves(kernel, round_gpu(), traffic, waves, slower).time(1.0) * 1e6;
  };
  CHECK(time() == near(34));
  CHECK(time(/*slower=*/1.5) == near(3 * 16 + 1));
  CHECK(law_of_waves(kernel, round_gpu(), {}, waves).time(0.5) * 1e6 == near(3 * 21 + 1));  // at half the clock
  SUBCASE("a least time holds in every wave") {
    kernel.least_time = 15.0_us;
    CHECK(time() == near(3 * 15 + 1));
    kernel.least_time = 11.0_us;
    CHECK(time() == near(34));
  }
  SUBCASE("the first loads of all residents come at once") {
    // Half of 2 MB for each of 8: 8 MB at 1 TB/s are 8 us, of which 1 us is the latency that each wave has.
    kernel.prologue = 0.5;
    CHECK(time(1.0, Traffic{.l2 = {}, .llc = {}, .hbm = 2.0_MB}) == near(34 + 7));
  }
  SUBCASE("the stores of the last wave come at once, as far as they leave the caches") {
    kernel.output = 1.0_MB;
    CHECK(time() == near(33 + 4));  // 4 work groups
    Traffic kept;
    kept.stores_to_hbm = 0.5;
    CHECK(time(1.0, kept) == near(33 + 2));
  }
}

TEST_CASE("the slowest of the last wave's work groups is late by what is likely, and the stores hide in that") {
  GpuSpec gpu = round_gpu();
  gpu.dispatch.work_group_spread = 0.1;
  const KernelDescription kernel = plain_kernel("k", 8, 100.0_us);
  // The largest of 8 normal draws is likely at sqrt(2 ln 8) - ln(4 pi ln 8) / (2 sqrt(2 ln 8)) = 1.2395.
  const double root = std::sqrt(2.0 * std::log(8.0));
  const double largest = root - std::log(4.0 * 3.14159265358979 * std::log(8.0)) / (2.0 * root);
  CHECK(largest == near(1.2395, 1e-3));
  CHECK(law_of_waves(kernel, gpu, {}, occupancy(8, 8, 1, 1)).time(1.0) * 1e6 == near(1 + 100 + 10 * largest));
}

TEST_CASE("two activities overlap from not at all to wholly") {
  CHECK(overlapped(3.0_us, 4.0_us, 1.0).value == near(7e-6));
  CHECK(overlapped(3.0_us, 4.0_us, 2.0).value == near(5e-6));
  CHECK(overlapped(4.0_us, 3.0_us, 2.0).value == near(5e-6));
  CHECK(overlapped(3.0_us, 4.0_us, kInfinite).value == 4e-6);
  CHECK(overlapped(0.0_us, 4.0_us, 1.0).value == 4e-6);
  CHECK(overlapped(0.0_us, 0.0_us, 3.0).value == 0.0);
  CHECK(overlapped(1e-30_us, 4.0_us, 8.0).value == near(4e-6));  // no overflow of the ratio
}

TEST_CASE("a slice has its CUs' waves") {
  const KernelDescription kernel = plain_kernel("k", 20, 10.0_us);
  CHECK(microseconds(kernel) == near(34));
  CHECK(microseconds(kernel, round_gpu(), {.cus = 8}) == near(34));
  // 10 work groups in each XCD: 5 waves on its 2 CUs, 10 on its only one.
  CHECK(microseconds(kernel, round_gpu(), {.cus = 4}) == near(5 * 11 + 1));
  CHECK(microseconds(kernel, round_gpu(), {.cus = 2}) == near(10 * 11 + 1));
  CHECK(time_alone(kernel, round_gpu(), {.cus = 2}).waves == 10);
}

TEST_CASE("of XCDs with unlike CUs the slowest one counts, also where all have one wave") {
  // 5 CUs: 3 and 2. 6 work groups: 3 in each XCD, where 3 CUs have one each and 2 CUs have 2 and 1.
  CHECK(microseconds(half_cu_kernel(6, 10.0_us), round_gpu(), {.cus = 6}) == near(1 + 10 + 1));
  CHECK(microseconds(half_cu_kernel(6, 10.0_us), round_gpu(), {.cus = 5}) == near(1 + 20 + 1));
  CHECK(microseconds(half_cu_kernel(6, 10.0_us), round_gpu(), {.cus = 4}) == near(1 + 20 + 1));
}

TEST_CASE("copies share a CU without slowing one another") {
  KernelDescription kernel = half_cu_kernel(16, 10.0_us);
  CHECK(microseconds(kernel) == near(1 + 20 + 1));
  kernel.needs.computes = false;
  CHECK(microseconds(kernel) == near(1 + 10 + 1));
}

TEST_CASE("a slice has its share of HBM, and so has a kernel by its pattern") {
  // 20 x 10 MB at 1 TB/s: 200 us, beside 34 us of waves.
  KernelDescription kernel = plain_kernel("k", 20, 10.0_us, 10.0_MB);
  CHECK(microseconds(kernel) == near(200));
  CHECK(microseconds(kernel, round_gpu(), {.hbm = 0.5}) == near(400));
  kernel.hbm_share = 0.8;
  CHECK(microseconds(kernel) == near(250));
  kernel.overlap = 1.0;
  CHECK(microseconds(kernel) == near(284));
  kernel.overhead = 5.0_us;
  CHECK(microseconds(kernel) == near(289));
}

TEST_CASE("a slice shows the traffic model its share of the caches and its residents") {
  auto witness = std::make_shared<CacheWitness>();
  KernelDescription kernel = half_cu_kernel(100, 10.0_us);
  kernel.traffic = witness;
  GpuSpec gpu = round_gpu();
  time_alone(kernel, gpu, {.cus = 6, .cache = 0.25});
  CHECK(witness->seen.l2_size == 1.0_MiB);
  CHECK(witness->seen.llc_size == 64.0_MiB);
  CHECK(witness->seen.resident == 12);
  CHECK(witness->seen.xcds == 2);
  CHECK(witness->seen.work_group_time == 10.0_us);
  gpu.cache.llc_size = Bytes{0.0};  // both XCDs' L2 stand for it
  time_alone(kernel, gpu, {.cache = 0.5});
  CHECK(witness->seen.llc_size == 4.0_MiB);
}

TEST_CASE("bytes are those of all work groups, stores those that leave the caches") {
  KernelDescription kernel = plain_kernel("k", 10, 1.0_us);
  kernel.traffic = std::make_shared<FixedTraffic>(
      Traffic{.l2 = 4.0_kB, .llc = 3.0_kB, .hbm = 2.0_kB, .stores_to_hbm = 0.25});
  kernel.output = 1.0_kB;
  kernel.useful_flops = Flops{7.0};
  const KernelTime found = time_alone(kernel, round_gpu());
  CHECK(found.l2.value == near(50e3));
  CHECK(found.hbm_read.value == near(20e3));
  CHECK(found.hbm_write.value == near(2.5e3));
  CHECK(found.flops.value == 7.0);
}

TEST_CASE("L2, the XCDs' ports and the LLC each hold a kernel up, and nothing overlaps away") {
  // 20 work groups, all XCDs together: 40 MB from L2, 20 MB through the ports and from the LLC.
  KernelDescription kernel = plain_kernel("k", 20, 1.0_us);
  kernel.traffic =
      std::make_shared<FixedTraffic>(Traffic{.l2 = 2.0_MB, .llc = 1.0_MB, .hbm = {}, .stores_to_hbm = 1.0});
  GpuSpec gpu = round_gpu();
  gpu.cache.l2_bandwidth = 0.1_TBps;  // of each of 2
  CHECK(microseconds(kernel, gpu) == near(200));
  gpu = round_gpu();
  gpu.cache.xcd_port_bandwidth = 0.1_TBps;
  CHECK(microseconds(kernel, gpu) == near(100));
  gpu = round_gpu();
  gpu.cache.llc_bandwidth = 0.1_TBps;
  CHECK(microseconds(kernel, gpu) == near(200));
  gpu.cache.llc_size = Bytes{0.0};  // no LLC has no bandwidth to be short of
  CHECK(microseconds(kernel, gpu) == near(7));
}

TEST_CASE("a launch costs what was measured with its class, or the device's part") {
  GpuSpec gpu = round_gpu();
  gpu.dispatch.launch_latency = 2.0_us;
  KernelDescription kernel = plain_kernel("k", 20, 10.0_us);
  CHECK(microseconds(kernel, gpu) == near(36));  // nothing was measured
  kernel.measured_launch = 7.0_us;
  CHECK(microseconds(kernel, gpu) == near(41));
  CHECK(time_alone(kernel, gpu).launch == 7.0_us);
  CHECK(microseconds(kernel, gpu, {.launch = LaunchCost::device}) == near(36));
  CHECK(time_alone(kernel, gpu, {.launch = LaunchCost::device}).launch == 2.0_us);
}

TEST_CASE("a host's part of a call is that of its operator, and hidden in a queue that is not empty") {
  GpuSpec gpu = round_gpu();
  gpu.dispatch.launch_latency = 2.0_us;
  KernelDescription kernel = plain_kernel("k", 20, 10.0_us);
  kernel.measured_launch = 7.0_us;
  const CallCosts calls{.product = 10.0_us,
                        .batched_product = 11.0_us,
                        .elementwise = 12.0_us,
                        .softmax = 13.0_us,
                        .norm = 14.0_us,
                        .attention = 15.0_us};
  double expected = 10;
  for (const CallKind kind : {CallKind::product, CallKind::batched_product, CallKind::elementwise,
                              CallKind::softmax, CallKind::norm, CallKind::attention}) {
    kernel.call = kind;
    CHECK(time_alone(kernel, gpu, {.calls = calls}).launch.value == near(1e-6 * expected));
    CHECK(time_alone(kernel, gpu, {.launch = LaunchCost::device, .calls = calls}).launch == 2.0_us);
    expected += 1;
  }
  kernel.call = CallKind::norm;
  CallCosts of_softmax;
  of_softmax.softmax = 13.0_us;
  CHECK(time_alone(kernel, gpu, {.calls = of_softmax}).launch == 7.0_us);  // nothing is known of it
}

TEST_CASE(
    "a split K loses CUs in proportion, up to one of its short work groups, and takes no whole second wave") {
  // 8 CUs, one work group each. Unsplit, 8 work groups of 40 us on 6 CUs are two waves, 80 us. Split in 4,
  // 32 of 10 us: 4 in turn on 8 CUs, 6 on 6, where 32 / 6 is 5.3.
  GpuSpec gpu = round_gpu();
  gpu.dispatch.launch_latency = {};
  gpu.hbm.latency = {};
  const auto waves = [&](std::int64_t work_groups, Seconds group_time, int cus) {
    return time_alone(plain_kernel("k", work_groups, group_time), gpu, {.cus = cus}).time.value * 1e6;
  };
  CHECK(waves(8, 40.0_us, 8) == near(40, 0.02));
  CHECK(waves(8, 40.0_us, 6) == near(80, 0.02));
  CHECK(waves(32, 10.0_us, 8) == near(40, 0.02));
  CHECK(waves(32, 10.0_us, 6) == near(60, 0.02));
}

TEST_CASE("a slice that no GPU has is refused") {
  const KernelDescription kernel = plain_kernel("k", 20, 10.0_us);
  const auto time = [&](const KernelSlice& slice) { time_alone(kernel, round_gpu(), slice); };
  CHECK_THROWS_WITH_AS(time({.cus = 9}), "gpu 'round' has 8 CUs, not 9", InfeasibleError);
  CHECK_THROWS_WITH_AS(time({.cus = -1}), "gpu 'round' has 8 CUs, not -1", InfeasibleError);
  for (const double share : {0.0, -0.5, 1.5, std::nan("")})
    CHECK_THROWS_AS(time({.hbm = share}), InfeasibleError);
  for (const double share : {-0.5, 1.5, std::nan("")})
    CHECK_THROWS_AS(time({.cache = share}), InfeasibleError);
  CHECK_NOTHROW(time({.cache = 0.0}));
  KernelDescription large = kernel;
  large.needs.lds = 65.0_KiB;
  CHECK_THROWS_WITH_AS(time_alone(large, round_gpu()), "kernel 'k': a work group does not fit into a CU",
                       InfeasibleError);
}

}  // namespace c3::gpu_kernel_time_test
