// What a power limit makes of the clock of a stream, and how a measurement sees it.

#include "gpu/clock/governor.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "gpu/clock/power_governor.hpp"
#include "gpu/kernels/describe.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "gpu/kernels/stream_times.hpp"
#include "gpu/kernels/vector/vector_shape.hpp"
#include "tests/support/governed_gpu.hpp"
#include "tests/support/mi300x_like.hpp"
#include "tests/support/near.hpp"
#include "tests/support/recorded_power.hpp"

namespace c3::gpu_governor_test {

using namespace literals;
using namespace test;

namespace {

/// 100 W idle, 1 pJ a flop, 50 pJ a byte, a square root, 100 ms.
GpuSpec governed() {
  GpuSpec gpu = mi300x_like_gpu();
  gpu.compute.matrix.push_back({DType::fp32, 160.0_TFLOPs, 110.0_TFLOPs, 2100.0_MHz});
  gpu.governor = round_governor();
  gpu.governor.byte_pj = 50.0;
  gpu.governor.state = ClockState::burst;
  return gpu;
}

const GemmShape kLarge{.m = 8192, .n = 8192, .k = 8192, .dtype = DType::bf16};

}  // namespace

TEST_CASE("a board without known power is never slowed") {
  GpuSpec gpu = mi300x_like_gpu();
  CHECK_FALSE(is_governed(gpu));
  gpu.governor.board = Watts{600};
  CHECK_FALSE(is_governed(gpu));
  gpu.governor.flop_pj = 1.0;
  CHECK(is_governed(gpu));
}

TEST_CASE("power is idle power, flops and bytes, and a flop of half the bits takes half the energy") {
  // 100 W + 1 pJ x 400 TFLOP/s + 50 pJ x 2 TB/s = 600 W; fp8 at the same rate: 200 W less.
  const GpuSpec gpu = governed();
  CHECK(power_at_boost(gpu, 400.0_TFLOPs, flop_energy(DType::bf16), 2.0_TBps).value == near(600.0));
  CHECK(power_at_boost(gpu, 400.0_TFLOPs, flop_energy(DType::fp8), 2.0_TBps).value == near(400.0));
  CHECK(power_at_boost(gpu, 400.0_TFLOPs, 0.0, 2.0_TBps).value == near(200.0));
}

TEST_CASE("arithmetic slows down with the root of what is drawn beyond the limit, and not below it") {
  GpuSpec gpu = governed();
  CHECK(sustained_slowdown(gpu, Watts{600}) == 1.0);
  CHECK(sustained_slowdown(gpu, Watts{864}) == near(1.2));
  gpu.governor.limit = Watts{300};  // less budget: a larger fall, from an earlier knee on
  CHECK(sustained_slowdown(gpu, Watts{600}) == near(std::sqrt(2.0)));
  // A burst may draw 1.35 times the limit.
  CHECK(burst_slowdown(gpu, Watts{405}) == 1.0);
  CHECK(burst_slowdown(gpu, Watts{1620}) == near(2.0));
}

TEST_CASE("a node's measured level stands for the limit at which large products settle there") {
  GpuSpec gpu = governed();
  const MatrixRate& rate = matrix_rate(gpu, DType::bf16);
  const Watts draws = power_at_boost(gpu, rate.sustained, 1.0, {});
  gpu.governor.level = 0.8 * rate.sustained;
  CHECK(sustained_slowdown(gpu, draws) == near(1.25));
}

TEST_CASE("in the long run a board allows less than at first, and bursts do not know") {
  GpuSpec gpu = governed();
  const double burst = burst_slowdown(gpu, Watts{1620});
  gpu.governor.settled = 0.75;
  CHECK(power_limit(gpu).value == near(450.0));
  CHECK(sustained_slowdown(gpu, Watts{1800}) == near(2.0));
  CHECK(burst == near(std::sqrt(1620.0 / 810.0)));
  CHECK(burst_slowdown(gpu, Watts{1620}) == near(burst));
  gpu.governor.level =
      0.5 * matrix_rate(gpu, DType::bf16).sustained;  // measured in the long run: it stands alone
  const Watts of_level = power_limit(gpu);
  gpu.governor.settled = 1.0;
  CHECK(power_limit(gpu).value == near(of_level.value));
}

TEST_CASE("on a part of the GPU a kernel draws its share of what it does beyond idling") {
  const GpuSpec gpu = governed();
  const int all = gpu.compute.cus();
  CHECK(power_on(gpu, Watts{900}, all).value == near(900.0));
  CHECK(power_on(gpu, Watts{900}, all / 4).value == near(300.0));
  CHECK(power_on(gpu, Watts{}, all / 4).value == 0.0);  // not known
}

TEST_CASE("a product in a burst is faster a CU on a part of the GPU, where the limit takes less of its clock") {
  GpuSpec gpu = governed();
  gpu.governor.flop_pj = 3.0;
  const auto time_on = [&](int cus) {
    return time_of(kLarge, gpu, {.cus = cus, .launch = LaunchCost::device}).time.value * cus;
  };
  const int all = gpu.compute.cus();
  const Watts whole = describe("gemm", kLarge, gpu).power;
  CHECK(burst_slowdown(gpu, whole) > 1.2);
  CHECK(burst_slowdown(gpu, power_on(gpu, whole, all / 4)) == 1.0);
  CHECK(time_on(all) / time_on(all / 4) > 1.15);
}

TEST_CASE("from idle the mean reaches the limit after averaging x ln of the two distances") {
  // 100 W to 700 W drawn, limit 600 W: 100 ms x ln(600 / 100). Above 1.35 limits, a burst draws just those.
  const GpuSpec gpu = governed();
  CHECK(time_to_limit(gpu, Watts{700}).value == near(0.1 * std::log(6.0)));
  CHECK(time_to_limit(gpu, Watts{2000}).value == near(0.1 * std::log(710.0 / 210.0)));
  CHECK(std::isinf(time_to_limit(gpu, Watts{600}).value));
}

TEST_CASE("a measurement is the mean of its timed calls, those before the limit at burst speed") {
  // 12 calls of 1 ms; the limit is met after 9 of them: of the last 6, three are fast and three take 1.2 ms.
  const Repeats six{.before = 6, .timed = 6};
  CHECK(measured_time(1.0_ms, 1.2_ms, 9.0_ms, six).value == near(1.1e-3));
  CHECK(measured_time(1.0_ms, 1.2_ms, 5.0_ms, six).value == near(1.2e-3));
  CHECK(measured_time(1.0_ms, 1.2_ms, 1.0_s, six).value == near(1.0e-3));
}

TEST_CASE("a stream of large products slows down, a memory-bound stream does not") {
  GpuSpec gpu = governed();
  gpu.governor.byte_pj = 5.0;  // the test's HBM is fast: no board draws 1 kW there
  const std::array<Operator, 1> products = {kLarge};
  const GovernedTimes hot = stream_times(products, gpu);
  CHECK(hot.power > gpu.governor.limit);
  CHECK(hot.sustained / hot.burst > 1.02);
  CHECK(hot.to_limit < 1.0_s);
  const std::array<Operator, 1> adds = {VectorShape{VectorOp::add, 16384, 16384, DType::bf16}};
  const GovernedTimes cool = stream_times(adds, gpu);
  CHECK(cool.sustained == cool.burst);
  CHECK(std::isinf(cool.to_limit.value));
}

TEST_CASE("the state belongs to the stream: a small product beside large ones slows down with them") {
  const GpuSpec gpu = governed();
  const GemmShape small{.m = 1024, .n = 1024, .k = 512, .dtype = DType::bf16};
  const std::array<Operator, 1> alone = {small};
  const std::array<Operator, 2> both = {kLarge, small};
  const GovernedTimes by_itself = stream_times(alone, gpu);
  CHECK(by_itself.sustained == by_itself.burst);
  const GovernedTimes in_stream = stream_times(both, gpu);
  // At the speed of the mean power, which is below that of the large product alone.
  const double slower = sustained_slowdown(gpu, in_stream.power);
  CHECK(slower > 1.01);
  GpuSpec at_boost = gpu;
  at_boost.governor.board = {};
  KernelDescription kernel = describe("g", small, at_boost);
  slow_down(kernel, slower);
  const Seconds slow_small = time_alone(kernel, gpu).time;
  CHECK(slow_small > 1.005 * by_itself.burst);
  KernelDescription large = describe("g", kLarge, at_boost);
  slow_down(large, slower);
  CHECK(in_stream.sustained.value == near((slow_small + time_alone(large, gpu).time).value));
  CHECK(in_stream.sustained / in_stream.burst > 1.01);
}

TEST_CASE("in the sustained state a product takes the time of its stream, and is described at boost clock") {
  GpuSpec gpu = governed();
  const std::array<Operator, 1> products = {kLarge};
  const GovernedTimes times = stream_times(products, gpu);
  gpu.governor.state = ClockState::sustained;
  CHECK(time_of(kLarge, gpu).time.value == near(times.sustained.value));
  const KernelDescription kernel = describe("g", kLarge, gpu);
  CHECK(kernel.clock == matrix_rate(gpu, DType::bf16).clock);
  CHECK(kernel.power.value == near(times.power.value));
}

TEST_CASE(
    "a run draws idle power for its time, and what its kernel draws alone beyond that, lowered with the "
    "clock") {
  GpuSpec gpu = governed();
  gpu.governor.limit = Watts{3000};
  gpu.governor.averaging = 100.0_s;  // no speed changes meanwhile
  const KernelDescription kernel = describe("product", kLarge, gpu);
  const KernelTime alone = time_alone(kernel, gpu, {.launch = LaunchCost::device});
  for (const KernelGrain grain : {KernelGrain::cohort, KernelGrain::fluid}) {
    for (const double speed : {1.0, 0.9}) {
      RecordedPower power;
      GpuBench bench(gpu, &power);
      bench.gpu.governor()->begin_at({.mean = Watts{2999}, .speed = speed});
      KernelLaunch launch;
      launch.grain = grain;
      const auto& ran = bench.launch(0.0_s, kernel, launch);
      bench.run();
      const double lowered = speed * speed;
      CHECK(power.curve.watts() == near(100.0 * lowered));  // nothing but idle power is left
      if (speed == 1.0) {
        const double beyond_idle = power.curve.joules() - 100.0 * power.curve.until();
        CHECK(beyond_idle == near((kernel.power.value - 100.0) * alone.time.value, 3e-2));
      }
      CHECK(power.curve.joules() / ran.end == near(kernel.power.value * lowered, 3e-2));
    }
  }
}

TEST_CASE("a stream that is simulated settles at the time that its closed form has for it") {
  GpuSpec gpu = governed();
  gpu.governor.averaging = 20.0_ms;
  const std::array<Operator, 1> products = {kLarge};
  const GovernedTimes times = stream_times(products, gpu, {.launch = LaunchCost::device});
  REQUIRE(times.sustained / times.burst > 1.02);
  GpuBench bench(gpu);
  const KernelDescription kernel = describe("product", kLarge, gpu);
  KernelLaunch launch;
  launch.grain = KernelGrain::fluid;
  std::vector<const GpuBench::Ran*> ran;
  for (int i = 0; i < 100; ++i)
    ran.push_back(&bench.launch(Seconds{i * times.sustained.value}, kernel, launch));
  bench.run();
  CHECK(ran.back()->span() == near(times.sustained.value, 1.5e-2));  // gaps between them, and the band
  CHECK(ran.front()->span() == near(times.burst.value, 1e-2));
}

TEST_CASE("whoever observes power changes no date") {
  const KernelDescription kernel = describe("product", kLarge, governed());
  const auto end = [&](Observer* observer) {
    GpuBench bench(governed(), observer);
    const auto& ran = bench.launch(0.0_s, kernel);
    bench.run();
    return ran.end;
  };
  RecordedPower power;
  CHECK(end(nullptr) == end(&power));
}

}  // namespace c3::gpu_governor_test
