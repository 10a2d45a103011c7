#include "gpu/clock/core_clock.hpp"

#include <doctest/doctest.h>

#include <stdexcept>

#include "tests/support/gpu_bench.hpp"
#include "tests/support/near.hpp"
#include "tests/support/print_units.hpp"

namespace c3::gpu_core_clock_test {

using namespace literals;
using namespace test;

namespace {

GpuSpec gpu_at(Hertz boost, double overlap_loss = 0.0) {
  GpuSpec gpu = round_gpu();
  gpu.compute.boost_clock = boost;
  gpu.hypotheses.overlap_loss = overlap_loss;
  return gpu;
}

}  // namespace

TEST_CASE("the core clock is the lowest of the resident kernels, and boost with none") {
  FluidSystem fluid;
  CoreClock clock(fluid, gpu_at(2100.0_MHz));
  CHECK(clock.current() == 2100.0_MHz);
  clock.enter(1200.0_MHz);
  clock.enter(1500.0_MHz);
  clock.enter(1200.0_MHz);
  CHECK(clock.current() == 1200.0_MHz);
  clock.leave(1200.0_MHz);
  CHECK(clock.current() == 1200.0_MHz);  // the other one is still there
  clock.leave(1200.0_MHz);
  CHECK(clock.current() == 1500.0_MHz);
  clock.leave(1500.0_MHz);
  CHECK(clock.current() == clock.boost());
}

TEST_CASE("arithmetic and channels follow the clock, and collectives slow arithmetic alone") {
  FluidSystem fluid;
  CoreClock clock(fluid, gpu_at(2000.0_MHz, 0.1));
  const auto speeds = [&] { return std::pair(fluid.speed(clock.arithmetic()), fluid.speed(clock.channels())); };
  CHECK(speeds() == std::pair(1.0, 1.0));
  clock.enter(1500.0_MHz);
  CHECK(speeds() == std::pair(0.75, 0.75));
  clock.begin_collective();
  clock.begin_collective();
  CHECK(speeds() == std::pair(0.75 * 0.9, 0.75));
  clock.end_collective();
  clock.leave(1500.0_MHz);
  CHECK(speeds() == std::pair(0.9, 1.0));
  clock.end_collective();
  CHECK(speeds() == std::pair(1.0, 1.0));
}

TEST_CASE("a slow GPU begins, and stays, slower than others at every clock") {
  FluidSystem fluid;
  CoreClock clock(fluid, gpu_at(2000.0_MHz), {.stated = 1.25});
  CHECK(clock.speed_of_arithmetic() == near(0.8));
  clock.enter(1000.0_MHz);
  CHECK(clock.speed_of_arithmetic() == near(0.4));
  clock.leave(1000.0_MHz);
  CHECK(clock.speed_of_arithmetic() == near(0.8));
}

TEST_CASE("a kernel that leaves a clock it never entered is an internal error") {
  FluidSystem fluid;
  CoreClock clock(fluid, gpu_at(2100.0_MHz));
  clock.enter(1200.0_MHz);
  CHECK_THROWS_AS(clock.leave(1500.0_MHz), std::logic_error);
}

}  // namespace c3::gpu_core_clock_test
