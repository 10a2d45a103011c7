// Strict priority classes and their floors, against values worked out by hand.

#include <doctest/doctest.h>

#include <stdexcept>
#include <vector>

#include "engine/flow_solver.hpp"
#include "tests/support/flow_clock.hpp"
#include "tests/support/near.hpp"

namespace c3::engine_priority_test {

using namespace literals;

namespace {

FlowSpec of_class(PriorityClass priority, double bound = kUnbounded) {
  return {.demands = {}, .bound = bound, .priority = priority};
}

}  // namespace

TEST_CASE("a lower class gets what the higher leaves") {
  // Class 0 is held to 0.6 of the resource: 1/0.6 s. Class 1 gets 0.4, has done 2/3 by then, and needs 1/3 s
  // alone.
  FlowClock clock;
  const ResourceId resource = clock.resource(100.0);
  clock.start(1, {{resource, 100.0}}, of_class(0, 0.6));
  clock.start(2, {{resource, 100.0}}, of_class(1));
  clock.simulation.run();
  CHECK(clock.date(1) == near(1.0 / 0.6));
  CHECK(clock.date(2) == near(2.0));
}

TEST_CASE("a class without a floor is starved by a higher one, completely") {
  FlowClock clock;
  const ResourceId resource = clock.resource(3.35e12);
  clock.start(1, {{resource, 0.7e9}}, of_class(0));
  const FlowId starved = clock.start(2, {{resource, 1e9}}, of_class(1));
  CHECK(clock.rate(starved) == 0.0);
  clock.simulation.run();
  CHECK(clock.date(2) == near(1.7e9 / 3.35e12));
}

TEST_CASE("a floor is guaranteed to a lower class") {
  // 3/4 and 1/4 until class 0 is done at 4/3 s; class 1 has then done 1/3.
  FlowClock clock;
  const ResourceId resource = clock.resource(100.0);
  clock.simulation.fluid().set_floor(1, 0.25);
  clock.start(1, {{resource, 100.0}}, of_class(0));
  clock.start(2, {{resource, 100.0}}, of_class(1));
  clock.simulation.run();
  CHECK(clock.date(1) == near(4.0 / 3.0));
  CHECK(clock.date(2) == near(2.0));
}

TEST_CASE("of a floor only what the class can use is kept from higher classes") {
  FlowClock clock;
  const ResourceId resource = clock.resource(100.0);
  clock.simulation.fluid().set_floor(1, 0.25);
  const FlowId high = clock.start(1, {{resource, 100.0}}, of_class(0));
  const FlowId low = clock.start(2, {{resource, 100.0}}, of_class(1, 0.1));
  CHECK(clock.rate(high) == near(0.9));
  CHECK(clock.rate(low) == near(0.1));
}

TEST_CASE("what a class leaves of its promise is offered to the others") {
  // Class 1 alone on half of everything: b stops at half of `narrow`, 0.1, a at what b leaves of half of
  // `shared`, 0.4. So class 0 gets 0.5 of `shared` (d) and 0.6 of `other` (c). Then class 1: b now takes all of
  // `narrow`, 0.2, which leaves a only 0.3. That leaves 0.1 of `other`, which c gets.
  FlowClock clock;
  const ResourceId shared = clock.resource(1.0), narrow = clock.resource(0.2), other = clock.resource(1.0);
  clock.simulation.fluid().set_floor(1, 0.5);
  const FlowId a = clock.start(1, {{shared, 1.0}, {other, 1.0}}, of_class(1));
  const FlowId b = clock.start(2, {{shared, 1.0}, {narrow, 1.0}}, of_class(1));
  const FlowId c = clock.start(3, {{other, 1.0}}, of_class(0));
  const FlowId d = clock.start(4, {{shared, 1.0}}, of_class(0));
  CHECK(clock.rate(a) == near(0.3));
  CHECK(clock.rate(b) == near(0.2));
  CHECK(clock.rate(c) == near(0.7));
  CHECK(clock.rate(d) == near(0.5));
}

TEST_CASE("when one class is left, nothing remains of what it got from unused promises") {
  // The same as above, with a second flow of class 0 on `other` held to 0.5: 1 - 0.4 - 0.5 = 0.1 is left there
  // for f of class 1, which shares `mine` with h, held to 0.85. Class 2 then leaves 0.1 of `other`; of `mine` f
  // can use 0.05 more. When classes 0 and 2 are gone, f and h share `mine` equally, although nothing changed on
  // it.
  FlowSolver solver;
  solver.set_floor(2, 0.5);
  const ResourceId shared = solver.add_resource(1.0), narrow = solver.add_resource(0.2);
  const ResourceId other = solver.add_resource(1.0), mine = solver.add_resource(1.0);
  const auto add = [&](std::vector<Demand> demands, PriorityClass priority, double bound = kUnbounded) {
    return solver.add_flow({.demands = demands, .bound = bound, .priority = priority});
  };
  const auto a = add({{shared, 1.0}, {other, 1.0}}, 2), b = add({{shared, 1.0}, {narrow, 1.0}}, 2);
  const auto d = add({{shared, 1.0}}, 0), e = add({{other, 1.0}}, 0, 0.5);
  const auto f = add({{other, 1.0}, {mine, 1.0}}, 1), h = add({{mine, 1.0}}, 1, 0.85);
  solver.solve();
  CHECK(solver.rate(f) == near(0.15));
  CHECK(solver.rate(h) == near(0.85));
  for (const auto gone : {a, b, d, e})
    solver.remove_flow(gone);
  solver.solve();
  CHECK(solver.rate(f) == near(0.5));
  CHECK(solver.rate(h) == near(0.5));
}

TEST_CASE("weights share within a class only") {
  FlowClock clock;
  const ResourceId resource = clock.resource(1.0);
  const FlowId high = clock.start(1, {{resource, 1.0}}, of_class(1, 0.2));
  const FlowId light = clock.start(2, {{resource, 1.0}}, {.demands = {}, .weight = 1e3, .priority = 2});
  const FlowId heavy = clock.start(3, {{resource, 1.0}}, {.demands = {}, .weight = 3e3, .priority = 2});
  CHECK(clock.rate(high) == near(0.2));
  CHECK(clock.rate(light) == near(0.2));
  CHECK(clock.rate(heavy) == near(0.6));
}

TEST_CASE("a class changed in flight counts from then on") {
  // Equals for 1 s, half of each done; then one goes first, 1.5 s; then the other, 2 s.
  FlowClock clock;
  const ResourceId resource = clock.resource(100.0);
  clock.start(1, {{resource, 100.0}}, of_class(1));
  const FlowId second = clock.start(2, {{resource, 100.0}}, of_class(1));
  clock.at(1.0_s, [&] { clock.simulation.fluid().set_priority(second, 0); });
  clock.simulation.run();
  CHECK(clock.date(2) == near(1.5));
  CHECK(clock.date(1) == near(2.0));
}

TEST_CASE("floors that promise more than there is are refused, and change nothing") {
  FlowSolver solver;
  const ResourceId resource = solver.add_resource(1.0);
  solver.set_floor(1, 0.5);
  CHECK_THROWS_AS(solver.set_floor(2, 0.6), std::invalid_argument);
  CHECK_THROWS_AS(solver.set_floor(1, -0.1), std::invalid_argument);
  const Demand demand{resource, 1.0};
  FlowSpec spec{.demands = {&demand, 1}};
  const auto high = solver.add_flow(spec);
  spec.priority = 2;
  const auto low = solver.add_flow(spec);
  solver.solve();
  CHECK(solver.rate(high) == near(1.0));
  CHECK(solver.rate(low) == 0.0);
}

}  // namespace c3::engine_priority_test
