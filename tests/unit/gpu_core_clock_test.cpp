#include "gpu/core_clock.hpp"

#include <doctest/doctest.h>

#include <stdexcept>
#include <vector>

#include "tests/support/print_units.hpp"

using namespace c3;
using namespace c3::literals;

TEST_CASE("the core clock is the lowest of the resident kernels, and boost with none") {
  CoreClock clock(2100.0_MHz);
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

TEST_CASE("clock listeners hear changes, all of them, and nothing else") {
  CoreClock clock(2100.0_MHz);
  std::vector<Hertz> first, second;
  clock.on_change([&] { first.push_back(clock.current()); });
  clock.on_change([&] { second.push_back(clock.current()); });
  clock.enter(1200.0_MHz);
  clock.enter(1500.0_MHz);  // no change
  clock.leave(1200.0_MHz);
  clock.leave(1500.0_MHz);
  CHECK(first == std::vector{1200.0_MHz, 1500.0_MHz, 2100.0_MHz});
  CHECK(second == first);
}

TEST_CASE("a kernel that leaves a clock it never entered is an internal error") {
  CoreClock clock(2100.0_MHz);
  clock.enter(1200.0_MHz);
  CHECK_THROWS_AS(clock.leave(1500.0_MHz), std::logic_error);
}
