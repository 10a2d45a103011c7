// Prepared flows: what runs many times over the same resources.

#include <doctest/doctest.h>

#include <stdexcept>
#include <vector>

#include "tests/support/flow_clock.hpp"
#include "tests/support/near.hpp"

namespace c3::engine_repeat_test {

using namespace literals;

namespace {

/// One flow over a link of 100 B/s, repeated.
struct Chunks : FlowClock {
  explicit Chunks(Observer* observer = nullptr) : FlowClock(observer) {}
  ResourceId link = resource(100.0);
  FlowId prepare(std::uint64_t tag, double bytes) {
    const std::vector<Demand> demands{{link, bytes}};
    return simulation.fluid().prepare({.demands = demands, .weight = 1.0 / bytes}, this, tag);
  }
  void repeat(FlowId flow, double part = 1.0) { simulation.fluid().repeat(flow, part); }
};

}  // namespace

TEST_CASE("a prepared flow takes nothing until it is repeated, and then its bytes over its rate each time") {
  Chunks chunks;
  const FlowId chunk = chunks.prepare(0, 50.0);  // 0.5 s alone
  chunks.start(1, {{chunks.link, 100.0}});       // has the link alone for its 1 s
  chunks.after(1, [&] { chunks.repeat(chunk); });
  std::vector<double> dates;
  chunks.after(0, [&] {
    dates.push_back(chunks.simulation.now().value);
    if (dates.size() < 3) chunks.repeat(chunk);
  });
  chunks.simulation.run();
  CHECK(chunks.date(1) == near(1.0));
  CHECK(dates == std::vector<double>{1.5, 2.0, 2.5});
  CHECK(chunks.simulation.fluid().completed_flows() == 4);
}

TEST_CASE("a repeated flow shares like a new one, at once and after a pause") {
  // 0..0.5 alone, 50 B. Repeated at once, with another of 100 B from 0.5 s on: 50 B/s each until 1.5 s. The
  // other has 50 B left and is alone until 2 s. Repeated at 1.75 s: the other has 25 B, both are done after 0.5
  // s and 0.75 s: the other at 2.25 s, 25 B of the third run at 100 B/s until 2.5 s.
  Chunks chunks;
  const FlowId chunk = chunks.prepare(0, 50.0);
  chunks.repeat(chunk);
  int runs = 0;
  chunks.after(0, [&] {
    if (++runs != 1) return;
    chunks.repeat(chunk);
    chunks.start(1, {{chunks.link, 100.0}}, {.demands = {}, .weight = 1.0 / 100.0});
  });
  chunks.at(1.0_s, [&] { CHECK(chunks.rate(chunk) == near(1.0)); });
  chunks.at(1.75_s, [&] { chunks.repeat(chunk); });
  chunks.simulation.run();
  CHECK(runs == 3);
  CHECK(chunks.date(1) == near(2.25));
  CHECK(chunks.date(0) == near(2.5));
}

TEST_CASE("part of a prepared flow takes that part of its time") {
  Chunks chunks;
  const FlowId chunk = chunks.prepare(0, 50.0);
  chunks.repeat(chunk, 0.25);
  int runs = 0;
  chunks.after(0, [&] {
    if (++runs == 1) chunks.repeat(chunk, 0.5);  // at its old rate, 2 a second
  });
  chunks.simulation.run();
  CHECK(chunks.date(0) == near(0.125 + 0.25));
}

TEST_CASE("a prepared flow whose bound changes between its runs goes at the new one") {
  Chunks chunks;
  const FlowId chunk = chunks.prepare(0, 50.0);
  chunks.repeat(chunk);
  int runs = 0;
  chunks.after(0, [&] {
    if (++runs > 1) return;
    chunks.simulation.fluid().set_bound(chunk, 0.5);
    chunks.repeat(chunk);
  });
  chunks.simulation.run();
  CHECK(chunks.date(0) == near(0.5 + 2.0));
}

TEST_CASE("a discarded flow is gone for good: at once when it waits, after its run when it runs") {
  Chunks chunks;
  const FlowId waiting = chunks.prepare(0, 50.0);
  const FlowId running = chunks.prepare(1, 50.0);
  chunks.repeat(running);
  bool heard = false;
  chunks.after(1, [&] { heard = true; });
  chunks.at(0.1_s, [&] {
    chunks.simulation.fluid().discard(waiting);
    chunks.simulation.fluid().discard(running);
    CHECK_THROWS_AS(chunks.repeat(waiting), std::logic_error);
    CHECK(chunks.simulation.fluid().in_flight(running));
  });
  chunks.simulation.run();
  CHECK_FALSE(heard);
  CHECK(chunks.simulation.now().value == near(0.5));
  CHECK_THROWS_AS(chunks.repeat(running), std::logic_error);
}

TEST_CASE("a flow that runs, or was never prepared, is not repeated") {
  Chunks chunks;
  const FlowId chunk = chunks.prepare(0, 50.0);
  CHECK_THROWS_AS(chunks.repeat(chunk, 0.0), std::logic_error);
  CHECK_THROWS_AS(chunks.repeat(chunk, 1.5), std::logic_error);
  chunks.repeat(chunk);
  CHECK_THROWS_AS(chunks.repeat(chunk), std::logic_error);
  CHECK_THROWS_AS(chunks.repeat(chunks.start(1, {{chunks.link, 1.0}})), std::logic_error);
}

}  // namespace c3::engine_repeat_test
