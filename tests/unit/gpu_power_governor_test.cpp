// The governor of a run: when the averaged power meets the limit, and what it then makes of the clock.

#include "gpu/clock/power_governor.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>

#include "gpu/clock/governor.hpp"
#include "tests/support/flow_clock.hpp"
#include "tests/support/governed_gpu.hpp"
#include "tests/support/near.hpp"
#include "tests/support/recorded_power.hpp"

namespace c3::gpu_power_governor_test {

using namespace literals;
using namespace test;

namespace {

/// Watts that a governor holds the mean at: half a per cent below the limit of 600 W.
constexpr double kHeld = 0.995 * 600;

struct Outcome {
  double time = 0;
  PowerCurve power;
  PowerState end;
};

/// One kernel of \p watts at boost clock that computes for \p seconds there.
Outcome run(double watts, double seconds, const PowerState& start = {.mean = Watts{100}},
            KernelGrain grain = KernelGrain::fluid) {
  Outcome outcome;
  RecordedPower power;
  GpuBench bench(governed_gpu(), &power);
  bench.gpu.governor()->begin_at(start);
  KernelLaunch launch;
  launch.grain = grain;
  const auto& ran = bench.launch(0.0_s, hot_kernel(watts, seconds), launch);
  bench.run();
  outcome.time = ran.span();
  outcome.power = power.curve;
  outcome.end = bench.gpu.governor()->state();
  return outcome;
}

}  // namespace

TEST_CASE("the mean of a constant power is an exponential") {
  MeanPower mean(100.0_ms, Watts{100});
  CHECK(mean.time_to(Watts{600}, Watts{700}).value == near(0.1 * std::log(6.0)));
  CHECK(std::isinf(mean.time_to(Watts{600}, Watts{600}).value));  // it comes near, and never there
  CHECK(std::isinf(mean.time_to(Watts{90}, Watts{700}).value));
  CHECK(mean.time_to(Watts{100}, Watts{700}).value == 0.0);
  mean.pass(50.0_ms, Watts{700});
  CHECK(mean.value().value == near(700 - 600 * std::exp(-0.5)));
  // A million small steps are one large one.
  MeanPower stepped(100.0_ms, Watts{100});
  for (int i = 0; i < 1'000'000; ++i)
    stepped.pass(Seconds{5e-8}, Watts{700});
  CHECK(stepped.value().value == near(mean.value().value, 1e-9));
}

TEST_CASE("a kernel above the limit is free until its mean meets it, and then held there") {
  // A mean of 100 W reaches 600 W at 800 W after 100 ms x ln(700 / 200). Then the speed is the
  // root of 598.5 / 800.
  const double crossing = 0.1 * std::log(3.5);
  const double speed = std::sqrt(kHeld / 800);
  const Outcome hot = run(800, 1.0);
  CHECK(hot.time == near(crossing + (1.0 - crossing) / speed, 1e-5));
  CHECK(hot.end.speed == near(speed, 1e-6));
  CHECK(hot.power.changes_above(1.0) == 3);  // it begins, it is held, it ends
  CHECK(hot.power.highest_mean(100.0_ms) < 600.001);
  // What the speed is follows from P(speed) = limit, and no table of kernels.
  CHECK(hot.power.watts_before_last() == near(kHeld, 1e-6));
}

TEST_CASE("contract: kernels of every grain hear the change in flight, and so do channels") {
  const double free = run(800, 1.0).time;
  for (const KernelGrain grain : {KernelGrain::cohort, KernelGrain::work_group})
    CHECK(run(800, 1.0, {.mean = Watts{100}}, grain).time == near(free, 1e-5));
  GpuBench bench(governed_gpu());
  bench.gpu.governor()->begin_at({.mean = Watts{599}, .speed = 0.8});
  CHECK(bench.gpu.clock(0).speed_of_arithmetic() == near(0.8));
  CHECK(bench.simulation.fluid().speed(bench.gpu.clock(1).channels()) == near(0.8));
}

TEST_CASE("bytes at HBM draw their power at every clock, and a clock held for them is lower") {
  // 700 W of bytes, which no clock slows: at f of boost the board draws (100 + 700 / f) f^2, which is the held
  // power at f = 0.769. Nothing is solved again while the speed changes.
  FlowClock clock;
  GpuSpec gpu = governed_gpu();
  PowerGovernor governor(clock.simulation, gpu, 0);
  const ResourceId total = clock.resource(1e30), lost = clock.resource(1e30);
  const std::array<HbmLoad, 1> hbm{{{total, lost}}};
  governor.listen_to(hbm);
  governor.begin_at({.mean = Watts{100}});
  // 700 TB each second, 1 pJ a byte, for 3 s.
  clock.start(1, {{total, 2100e12}}, {.demands = {}, .bound = 1.0 / 3.0});
  clock.simulation.run_without_simgrid();
  const double held = (std::sqrt(700 * 700 + 4 * 100 * kHeld) - 700) / 200;
  CHECK(held == near(0.769, 1e-3));
  CHECK(governor.state().speed == near(held, 0.02));  // within two bands
  CHECK(governor.state().mean.value == near(kHeld, 0.02));
}

TEST_CASE("a slower GPU draws what others do, so that its governor gives no clock back") {
  const auto time_of_slower = [](GpuPace pace, double watts) {
    GpuBench bench(governed_gpu(), nullptr, {{"a"}, {}, 0}, pace);
    bench.gpu.governor()->begin_at({.mean = Watts{100}});
    const auto& ran = bench.launch(0.0_s, hot_kernel(watts, 2.0));
    bench.run();
    return ran.span();
  };
  for (const double watts : {800.0, 500.0}) {  // above the limit, and below
    CHECK(time_of_slower({.drawn = 1.02}, watts) == near(1.02 * time_of_slower({}, watts), 2e-3));
    CHECK(time_of_slower({.stated = 1.02}, watts) == near(1.02 * time_of_slower({}, watts), 2e-3));
  }
}

TEST_CASE(
    "channels and kernels of a given time are late by what is stated of a GPU, and not by what is drawn") {
  GpuBench bench(governed_gpu(), nullptr, {{"a"}, {}, 0}, {.stated = 1.25, .drawn = 2.0});
  CHECK(bench.simulation.fluid().speed(bench.gpu.clock(0).channels()) == near(0.8));
  CHECK(bench.gpu.clock(0).speed_of_arithmetic() == near(0.4));
  CHECK(bench.gpu.slower() == 1.25);
  bench.gpu.clock(0).enter(bench.spec.compute.boost_clock);
  CHECK(bench.simulation.fluid().speed(bench.gpu.clock(0).channels()) == near(0.8));
}

TEST_CASE("a kernel at or below the limit is never slowed, however long it runs") {
  const Outcome cool = run(600, 5.0);
  CHECK(cool.time == near(5.0, 1e-5));
  CHECK(cool.end.speed == 1.0);
}

TEST_CASE("a kernel above 1.35 limits is held to them from its start") {
  // 810 W of 1,000: the root of 0.81.
  CHECK(run(1000, 0.01).time == near(0.01 / 0.9, 1e-3));
  // Its mean is that of 810 W, and it settles as any other.
  const double crossing = 0.1 * std::log(710.0 / 210.0);
  const Outcome hot = run(1000, 1.0);
  CHECK(hot.time == near(crossing + (1.0 - 0.9 * crossing) / std::sqrt(kHeld / 1000), 1e-5));
}

TEST_CASE("a run that begins where it ends stays there") {
  const Outcome hot = run(800, 0.01, {.mean = Watts{kHeld}, .speed = std::sqrt(kHeld / 800)});
  CHECK(hot.time == near(0.01 / std::sqrt(kHeld / 800), 1e-3));
  CHECK(hot.end.mean.value == near(kHeld, 1e-3));
}

TEST_CASE("a clock that was held is let go when what runs no longer needs it") {
  // 400 W at 0.8 of boost draw 256 W: the mean falls to 2 % below the limit, and nothing is held.
  const Outcome cool = run(400, 1.0, {.mean = Watts{kHeld}, .speed = 0.8});
  CHECK(cool.end.speed == 1.0);
  CHECK(cool.time == near(1.0, 2e-3));
}

TEST_CASE("what waits for memory is not slowed, whatever the speed") {
  // 1 GB at 1 TB/s.
  for (const double speed : {1.0, 0.5}) {
    GpuBench bench(governed_gpu());
    bench.gpu.governor()->begin_at({.mean = Watts{599}, .speed = speed});
    const auto& ran = bench.launch(0.0_s, plain_kernel("copy", 8, 1.0_us, Bytes{1.25e8}));
    bench.run();
    CHECK(ran.span() == near(1e-3, 1e-2));
  }
}

TEST_CASE("bytes at HBM draw power, whoever moves them") {
  // 1 GB at 200 pJ a byte: 0.2 J beside 100 W of idle power, for a millisecond.
  GpuSpec gpu = governed_gpu();
  gpu.governor.byte_pj = 200.0;
  RecordedPower power;
  GpuBench bench(gpu, &power);
  bench.launch(0.0_s, plain_kernel("copy", 8, 1.0_us, Bytes{1.25e8}));
  bench.run();
  CHECK(power.curve.joules() == near(0.2 + 100 * power.curve.until(), 1e-6));
  CHECK(bench.gpu.governor()->means().at_boost.value == near(300.0, 1e-2));
}

TEST_CASE("an alarm of the governor keeps no run alive, and idle power cools it between kernels") {
  GpuBench bench(governed_gpu());
  bench.gpu.governor()->begin_at({.mean = Watts{kHeld}, .speed = 0.8});
  KernelLaunch launch;
  launch.grain = KernelGrain::fluid;
  bench.launch(0.0_s, hot_kernel(800, 0.01), launch);
  const auto& later = bench.launch(1.0_s, hot_kernel(800, 0.01), launch);
  bench.run();
  CHECK(later.span() == near(0.01, 1e-3));  // a second of idling is ten times the averaging
  CHECK(bench.simulation.now().value < 1.02);
}

TEST_CASE("a kernel that leaves a power that it never entered is an internal error") {
  GpuBench bench(governed_gpu());
  bench.gpu.governor()->enter(Watts{500});
  CHECK_THROWS_AS(bench.gpu.governor()->leave(Watts{400}), std::logic_error);
}

}  // namespace c3::gpu_power_governor_test
