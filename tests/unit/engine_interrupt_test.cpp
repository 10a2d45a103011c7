#include <doctest/doctest.h>

#include <chrono>
#include <stdexcept>

#include "engine/interrupt.hpp"

namespace c3::engine_interrupt_test { namespace {

using Clock = std::chrono::steady_clock;

/// Passes checkpoints for half a second.
void pass_checkpoints(std::optional<Seconds> date = std::nullopt) {
  for (const Clock::time_point end = Clock::now() + std::chrono::milliseconds(500); Clock::now() < end;)
    checkpoint(date);
}

TEST_CASE("a heartbeat comes from checkpoints, at most ten times a second, with the simulation's time") {
  int beats = 0;
  std::optional<Seconds> seen;
  {
    const Heartbeat heartbeat([&](std::optional<Seconds> date) {
      ++beats;
      seen = date;
    });
    pass_checkpoints(2.0_ms);
  }
  CHECK(beats >= 1);  // on a busy machine fewer than five
  CHECK(beats <= 6);
  CHECK(seen == 2.0_ms);
  const int before = beats;
  pass_checkpoints();
  CHECK(beats == before);
}

TEST_CASE("there is one heartbeat at a time, and without a request nothing stops") {
  const Heartbeat only([](std::optional<Seconds>) {});
  CHECK_THROWS_AS(Heartbeat([](std::optional<Seconds>) {}), std::logic_error);
  CHECK(stop_reason() == StopReason::none);
  CHECK_FALSE(interrupt_requested());
  CHECK_NOTHROW(checkpoint());
}

}}  // namespace c3::engine_interrupt_test
