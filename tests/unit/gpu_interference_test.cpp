// What a kernel loses to others beyond slots and bandwidth: bytes that patterns waste, streamed loads, CUs that
// copies hold, power, and the loss that only a calibrated study has.

#include <doctest/doctest.h>

#include <cmath>
#include <memory>
#include <stdexcept>

#include "gpu/clock/core_clock.hpp"
#include "gpu/kernel_time.hpp"
#include "gpu/kernels/gemm/streamed_traffic.hpp"
#include "tests/support/gpu_bench.hpp"
#include "tests/support/near.hpp"
#include "tests/support/recording.hpp"

namespace c3::gpu_interference_test {

using namespace literals;
using namespace test;

namespace {

constexpr KernelGrain kGrains[] = {KernelGrain::cohort, KernelGrain::work_group, KernelGrain::fluid};

KernelLaunch of_grain(KernelGrain grain) {
  KernelLaunch launch;
  launch.grain = grain;
  return launch;
}

/// The tiles ask L2 for 10 MB, of which 1 MB reaches HBM by geometry.
StreamedTraffic streamed(const StreamedSpec& spec) {
  return {std::make_shared<FixedTraffic>(Traffic{.l2 = 10.0_MB, .llc = 2.0_MB, .hbm = 1.0_MB}), spec, 4.0_TBps};
}

/// 100 work groups of 1 ms.
CacheState state_beside(BytesPerSecond intruder, double cus_taken = 0.0) {
  CacheState state;
  state.resident = 100;
  state.work_group_time = 1.0_ms;
  state.llc_intruder = intruder;
  state.cus_taken = cus_taken;
  return state;
}

/// A collective that only is there.
Task hold_collective(Gpu& gpu, Seconds begin, Seconds end) {
  co_await gpu.simulation().sleep(begin);
  gpu.clock(1).begin_collective();
  co_await gpu.simulation().sleep(end - begin);
  gpu.clock(1).end_collective();
}

Task fail_at(Simulation& simulation, Seconds date) {
  co_await simulation.sleep(date);
  throw std::runtime_error("given up");
}

}  // namespace

TEST_CASE("HBM's load is a kernel's bytes and what its pattern loses between them") {
  for (const KernelGrain grain : kGrains) {
    Recording seen;
    GpuBench bench(round_gpu(), &seen);
    KernelDescription kernel = plain_kernel("k", 20, 1.0_us, 1.0_MB);
    kernel.output = 0.5_MB;
    kernel.hbm_share = 0.8;
    bench.launch(0.0_s, kernel, of_grain(grain));
    bench.run();
    CHECK(seen.total("gpu0.hbm") == near(20 * 1.5e6 / 0.8));
    CHECK(seen.total("gpu0.hbm.lost") == near(20 * 1.5e6 * (1 / 0.8 - 1)));
    CHECK(seen.total("gpu0.hbm.written") == near(20 * 0.5e6));
    CHECK(seen.total("gpu0.memory_side.a") == near(20 * 1.5e6));
  }
}

TEST_CASE("a kernel alone takes as long whether its lost share keeps HBM busy or not") {
  const auto span = [](double occupies, KernelGrain grain) {
    GpuSpec gpu = round_gpu();
    gpu.hypotheses.lost_share_occupies = occupies;
    GpuBench bench(gpu);
    KernelDescription kernel = plain_kernel("k", 20, 9.0_us, 2.0_MB);
    kernel.hbm_share = 0.8;
    const auto& ran = bench.launch(0.0_s, kernel, of_grain(grain));
    bench.run();
    return ran.span();
  };
  for (const KernelGrain grain : kGrains) {
    CHECK(span(1.0, grain) == near(span(0.0, grain), 1e-9));
    CHECK(span(0.5, grain) == near(span(0.0, grain), 1e-9));
  }
}

TEST_CASE("streamed: the stated share of what tiles ask of L2 reaches HBM, never less than by geometry") {
  CHECK(streamed({.miss = 0.9}).per_work_group(state_beside({})).hbm.value == near(9e6));
  CHECK(streamed({.miss = 0.9}).per_work_group(state_beside({})).llc.value == near(9e6));
  CHECK(streamed({.miss = 0.9}).per_work_group(state_beside({})).l2.value == near(10e6));
  CHECK(streamed({.miss = 0.05}).per_work_group(state_beside({})).hbm.value == near(1e6));
  CHECK(streamed({.miss = 0.0}).per_work_group(state_beside(1.0_TBps)).hbm.value == near(1e6));
}

TEST_CASE("streamed: others' insertions raise the misses by their share, up to all requests") {
  const StreamedSpec root{.miss = 0.4, .pollution = 0.5};
  // 100 x 4 MB in 1 ms: 0.4 TB/s of its own. A third of the insertions is its own beside 0.8 TB/s.
  CHECK(streamed(root).per_work_group(state_beside(0.8_TBps)).hbm.value == near(4e6 * std::sqrt(3.0)));
  CHECK(streamed({.miss = 0.4, .pollution = 0.0}).per_work_group(state_beside(0.8_TBps)).hbm.value ==
        near(4e6));
  CHECK(streamed({.miss = 0.9, .pollution = 1.0}).per_work_group(state_beside(8.0_TBps)).hbm.value ==
        near(10e6));
  // What HBM cannot give is not inserted: 4 TB/s at most.
  CacheState busy = state_beside(4.0_TBps);
  busy.work_group_time = 1.0_us;
  CHECK(streamed(root).per_work_group(busy).hbm.value == near(4e6 * std::sqrt(2.0)));
}

TEST_CASE("streamed: CUs that are taken relieve the caches by the published share, a thin last wave does not") {
  const StreamedSpec all{.miss = 0.5, .relief = 1.0};
  const auto hbm = [&](double cus_taken) {
    return streamed(all).per_work_group(state_beside({}, cus_taken)).hbm.value;
  };
  CHECK(hbm(0.0) == near(5e6));
  CHECK(hbm(4.0 / 304) == near(5e6 * 0.95));
  CHECK(hbm(8.0 / 304) == near(5e6 * 0.90));
  CHECK(hbm(32.0 / 304) == near(5e6 * 0.95));
  CHECK(hbm(64.0 / 304) == near(5e6 * 0.90));
  CHECK(hbm(200.0 / 304) == near(5e6 * 0.90));
  CHECK(streamed({.miss = 0.5, .relief = 0.5}).per_work_group(state_beside({}, 8.0 / 304)).hbm.value ==
        near(5e6 * 0.95));
  CacheState thin = state_beside({});
  thin.resident = 1;
  CHECK(streamed(all).per_work_group(thin).hbm.value == near(5e6));
}

TEST_CASE("CUs are taken by a mask, and by copies that hold them") {
  GpuBench bench(round_gpu());  // 2 XCDs of 4 CUs
  const CuRange whole = bench.gpu.dispatcher(0).units().all();
  CHECK(bench.gpu.cus_taken(0, whole) == 0.0);
  CHECK(bench.gpu.cus_taken(0, {1, 4}) == near(2.0 / 8));
  KernelDescription copy = plain_kernel("copy", 3, 10.0_us);
  copy.needs.computes = false;
  bench.launch(0.0_s, copy);
  KernelDescription beside = plain_kernel("beside", 1, 10.0_us);
  bench.launch(0.0_s, beside);
  double whole_taken = -1.0, masked_taken = -1.0;
  const auto look = [&]() -> Task {
    co_await bench.simulation.sleep(5.0_us);
    whole_taken = bench.gpu.cus_taken(0, whole);
    masked_taken = bench.gpu.cus_taken(0, {2, 4});  // the copies sit on CUs 0, 0 and 1
  };
  bench.simulation.spawn("look", look());
  bench.run();
  CHECK(whole_taken == near(3.0 / 8));
  CHECK(masked_taken == near(4.0 / 8));
  CHECK(bench.gpu.cus_taken(0, whole) == 0.0);
}

TEST_CASE("a power limit slows kernels that run into it beside traffic, and speeds them up on fewer CUs") {
  GpuSpec gpu = round_gpu();
  gpu.hypotheses.power = {.coupling = 1.0, .as_traffic = 10.0_TBps};
  CHECK(speed_under_power_limit(gpu, 500.0_MHz, {}, 0.0) == 1.0);
  CHECK(speed_under_power_limit(gpu, 500.0_MHz, 1.0_TBps, 0.0) == near(std::pow(0.9, 0.63)));
  CHECK(speed_under_power_limit(gpu, 500.0_MHz, {}, 64.0 / 304) == near(std::pow(304.0 / 240, 0.63)));
  CHECK(speed_under_power_limit(gpu, 1000.0_MHz, 1.0_TBps, 0.5) == 1.0);  // at boost: no limit met
  CHECK(speed_under_power_limit(gpu, 900.0_MHz, {}, 0.9) == near(1000.0 / 900));
  gpu.hypotheses.power.coupling = 0.5;
  CHECK(speed_under_power_limit(gpu, 500.0_MHz, 1.0_TBps, 0.0) == near(0.5 + 0.5 * std::pow(0.9, 0.63)));
  gpu.hypotheses.power.coupling = 0.0;
  CHECK(speed_under_power_limit(gpu, 500.0_MHz, 9.0_TBps, 0.5) == 1.0);
}

TEST_CASE("a power limit acts on work groups as on the closed form") {
  GpuSpec gpu = with_fast_memory(round_gpu());
  gpu.hypotheses.power.coupling = 1.0;
  KernelDescription kernel = plain_kernel("k", 80, 100.0_us);
  kernel.clock = 500.0_MHz;
  const double half = std::pow(2.0, 0.63);
  for (const KernelGrain grain : kGrains) {
    GpuBench bench(gpu);
    KernelLaunch launch = of_grain(grain);
    launch.range = {0, 2};
    const auto& ran = bench.launch(0.0_s, kernel, launch);
    bench.run();
    CHECK(ran.span() == near(20 * 100e-6 / half, 2e-2));
  }
  CHECK(time_alone(kernel, gpu, {.cus = 4}).time.value == near(20 * 100e-6 / half, 2e-2));
}

TEST_CASE("the calibrated loss acts on arithmetic while a collective is in flight, and only then") {
  // 8 work groups of 100 us at once; a collective in flight from 20 to 50 us takes a fifth of their speed.
  const auto span = [](double loss, KernelGrain grain) {
    GpuSpec gpu = with_fast_memory(round_gpu());
    gpu.hypotheses.overlap_loss = loss;
    GpuBench bench(gpu);
    const auto& ran = bench.launch(0.0_s, plain_kernel("k", 8, 100.0_us), of_grain(grain));
    bench.simulation.spawn("collective", hold_collective(bench.gpu, 20.0_us, 50.0_us));
    bench.run();
    return ran.span();
  };
  for (const KernelGrain grain : kGrains)
    CHECK(span(0.2, grain) - span(0.0, grain) == near(30e-6 * 0.2, 2e-2));
}

TEST_CASE("a product takes longer after or beside other work than in a loop of itself") {
  GpuSpec gpu = with_fast_memory(round_gpu());
  gpu.hypotheses.product_after_others = 1.5;
  KernelDescription product = plain_kernel("product", 8, 100.0_us);
  product.after_others = 1.5;
  const KernelDescription other = plain_kernel("other", 8, 10.0_us);
  for (const KernelGrain grain : kGrains) {
    GpuBench loop(gpu);
    loop.launch(0.0_s, product, of_grain(grain));
    const auto& again = loop.launch(1.0_ms, product, of_grain(grain));
    loop.launch(2.0_ms, other, of_grain(grain));
    const auto& after = loop.launch(3.0_ms, product, of_grain(grain));
    const auto& once_more = loop.launch(4.0_ms, product, of_grain(grain));
    loop.run();
    CHECK(after.span() - again.span() == near(50e-6, 1e-6));
    CHECK(once_more.span() == near(again.span(), 1e-9));

    GpuBench beside(gpu);
    const auto& product_beside = beside.launch(1.0_us, product, of_grain(grain));
    beside.gpu.work().begin("all_reduce");
    beside.run();
    CHECK(product_beside.span() == near(after.span(), 1e-9));
  }
}

TEST_CASE("only matrix products have the state, and only where the GPU is believed to have it") {
  GpuSpec gpu = with_fast_memory(round_gpu());
  KernelDescription other = plain_kernel("other", 8, 100.0_us);
  const auto span = [&](double state, double of_kernel) {
    gpu.hypotheses.product_after_others = state;
    GpuBench bench(gpu);
    bench.gpu.work().begin("all_reduce");
    other.after_others = of_kernel;
    const auto& ran = bench.launch(0.0_s, other, {});
    bench.run();
    return ran.span();
  };
  const double alone = span(1.0, 1.0);
  CHECK(span(1.5, 1.0) == near(alone, 1e-9));
  CHECK(span(1.0, 1.5) == near(alone, 1e-9));  // nothing is remembered
  CHECK(span(1.5, 1.5) - alone == near(50e-6, 1e-6));
}

TEST_CASE("a second queue costs a kernel the wave that its smallest shader engine needs more") {
  // 20 work groups on 2 XCDs of 5 CUs are two waves; engines of 3 and 2 CUs have 5 each, which are three on the
  // smaller one.
  const auto span = [](KernelGrain grain, bool strict, bool beside) {
    GpuSpec gpu = with_fast_memory(round_gpu());
    gpu.compute.cus_per_xcd = 5;
    gpu.dispatch.shader_engines = 2;
    gpu.hypotheses.strict_rotation = strict;
    GpuBench bench(gpu);
    KernelDescription channel = plain_kernel("channel", 1, 1.0_ms);
    channel.needs = {.lds = {}, .registers = Bytes{32 * kKibi}, .waves = 1, .computes = false};
    if (beside) bench.launch(0.0_s, channel);
    const auto& ran = bench.launch(1.0_us, plain_kernel("k", 20, 100.0_us), of_grain(grain));
    bench.run();
    return ran.span();
  };
  for (const KernelGrain grain : kGrains) {
    const double two = span(grain, false, true);
    CHECK(span(grain, true, true) - two == near(100e-6, 2e-2));
    CHECK(span(grain, true, false) == near(two, 1e-9));
  }
}

TEST_CASE("releases of channels write the stated share of a kernel's stores once more") {
  for (const KernelGrain grain : kGrains) {
    const auto written = [grain](double rewrites, bool beside_channels) {
      GpuSpec gpu = round_gpu();
      gpu.hypotheses.release_rewrites = rewrites;
      Recording seen;
      GpuBench bench(gpu, &seen);
      KernelDescription channels = plain_kernel("channels", 2, 1.0_ms);
      channels.needs = {.lds = {}, .registers = Bytes{32 * kKibi}, .waves = 1, .computes = false};
      if (beside_channels) bench.launch(0.0_s, channels);
      KernelDescription kernel = plain_kernel("k", 8, 10.0_us);
      kernel.output = 1.0_MB;
      bench.launch(1.0_us, kernel, of_grain(grain));
      bench.run();
      return seen.total("gpu0.hbm.written");
    };
    CHECK(written(0.0, true) == near(8e6));
    CHECK(written(0.5, true) == near(12e6));
    CHECK(written(0.5, false) == near(8e6));
  }
}

TEST_CASE("a kernel that lowers the clock slows what computes in flight, for as long as it stays") {
  // Both fit side by side, on 4 CUs each. "fast" computes 100 us at 1 GHz. "hot" pulls the clock to 500
  // MHz from 20 to 50 us (and a latency of 1 us each time a work group starts): what then computes takes
  // twice as long.
  const auto span = [](double hot_clock, KernelGrain grain) {
    GpuBench bench(with_fast_memory(round_gpu()));
    KernelLaunch left = of_grain(grain), right = of_grain(grain);
    left.range = {0, 2};
    right.range = {2, 4};
    const auto& fast = bench.launch(0.0_s, plain_kernel("fast", 4, 100.0_us), left);
    KernelDescription hot = plain_kernel("hot", 4, 29.0_us);
    hot.clock = Hertz{hot_clock};
    bench.launch(20.0_us, hot, right);
    bench.run();
    return fast.span();
  };
  for (const KernelGrain grain : kGrains)
    CHECK(span(0.5e9, grain) - span(1e9, grain) == near(15e-6, 5e-2));
}

TEST_CASE("a kernel that waits for HBM does not hear a clock that falls") {
  for (const KernelGrain grain : kGrains) {
    const auto span = [&](double hot_clock) {
      GpuBench bench(round_gpu());
      KernelLaunch left = of_grain(grain), right = of_grain(grain);
      left.range = {0, 2};
      right.range = {2, 4};
      // 4 MB each for 4 work groups at 1 TB/s are 16 us, of which arithmetic takes 2, or 4.
      const auto& memory = bench.launch(0.0_s, plain_kernel("memory", 4, 2.0_us, 4.0_MB), left);
      KernelDescription hot = plain_kernel("hot", 4, 29.0_us);
      hot.clock = Hertz{hot_clock};
      bench.launch(1.0_us, hot, right);
      bench.run();
      return memory.span();
    };
    CHECK(span(0.5e9) == near(span(1e9), 1e-9));
  }
}

TEST_CASE("a simulation that is given up while a kernel loses to a collective ends cleanly") {
  for (const KernelGrain grain : kGrains) {
    GpuSpec gpu = with_fast_memory(round_gpu());
    gpu.hypotheses.overlap_loss = 0.2;
    GpuBench bench(gpu);
    bench.launch(0.0_s, plain_kernel("k", 8, 100.0_us), of_grain(grain));
    bench.simulation.spawn("failure", fail_at(bench.simulation, 50.0_us));
    CHECK_THROWS_AS(bench.run(), std::runtime_error);
  }
}

}  // namespace c3::gpu_interference_test
