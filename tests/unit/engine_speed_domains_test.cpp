#include <doctest/doctest.h>

#include <array>
#include <stdexcept>
#include <vector>

#include "engine/bound_law.hpp"
#include "tests/support/flow_clock.hpp"
#include "tests/support/near.hpp"

namespace c3::engine_speed_domains_test {

using namespace literals;

namespace {

/// \p fixed + \p scaled / f seconds.
BoundTerm term(DomainId domain, double fixed, double scaled) {
  BoundTerm term{.domain = domain, .law = {}};
  term.law.phases[0] = {.fixed = fixed, .scaled = scaled};
  return term;
}

/// How often rates changed.
class Changes final : public Observer {
 public:
  void resource_added(ResourceId, const ResourceInfo&, double) override {}
  void capacity_changed(ResourceId, Seconds, double) override {}
  void activity_started(ActivityId, const ActivityInfo&, Seconds) override {}
  void activity_finished(ActivityId, Seconds) override {}
  void depends(ActivityId, ActivityId, DependencyKind) override {}
  void rate_changed(ActivityId, Seconds, double) override { ++count; }
  void utilisation(ResourceId, Seconds, double) override {}
  int count = 0;
};

}  // namespace

TEST_CASE("a law scales its phases alone, each down to its least time, beside what goes on at its own rate") {
  BoundLaw law;
  law.phases = {{{.fixed = 1.0, .scaled = 2.0}, {.scaled = 1.0, .least = 3.0}, {.fixed = 0.5}}};
  CHECK(law.time(1.0) == near(3.0 + 3.0 + 0.5));
  CHECK(law.time(0.5) == near(5.0 + 3.0 + 0.5));
  CHECK(law.time(0.25) == near(9.0 + 4.0 + 0.5));
  law.least = 8.0;
  CHECK(law.time(1.0) == near(8.0));
  CHECK(law.time(0.25) == near(13.5));
  law.beside = 10.0;
  CHECK(law.time(1.0) == near(10.0));  // wholly hidden
  CHECK(law.time(0.25) == near(13.5));
  law.overlap = 1.0;
  CHECK(law.time(1.0) == near(18.0));  // one after the other
}

TEST_CASE("a flow goes on at its new bound from the instant at which the speed of its domain changes") {
  // 1 s + 3 s at speed 1. Half of it is done at 2 s, the rest takes half of 1 + 3 / 0.5 s.
  FlowClock clock;
  const DomainId domain = clock.simulation.fluid().add_domain();
  const std::array laws{term(domain, 1.0, 3.0)};
  clock.start(1, {}, {.demands = {}, .laws = laws});
  clock.at(2.0_s, [&] { clock.simulation.fluid().set_speed(domain, 0.5); });
  clock.simulation.run_without_simgrid();
  CHECK(clock.date(1) == near(2.0 + 3.5));
}

TEST_CASE("of several limits of a flow the lowest counts, its own bound and resources among them") {
  FlowClock clock;
  FluidSystem& fluid = clock.simulation.fluid();
  const DomainId slow = fluid.add_domain(), fast = fluid.add_domain(2.0);
  const ResourceId link = clock.resource(0.5);
  const std::array laws{term(slow, 0.0, 1.0), term(fast, 0.0, 1.0)};
  const FlowId flow = clock.start(1, {{link, 1.0}}, {.demands = {}, .bound = 0.8, .laws = laws});
  const auto rate_at = [&](double of_slow, double of_fast) {
    fluid.set_speed(slow, of_slow);
    fluid.set_speed(fast, of_fast);
    fluid.next_date();
    return fluid.rate(flow);
  };
  CHECK(rate_at(1.0, 2.0) == near(0.5));  // the link
  CHECK(rate_at(0.4, 2.0) == near(0.4));
  CHECK(rate_at(0.4, 0.3) == near(0.3));
  fluid.set_capacity(link, 5.0);
  CHECK(rate_at(1.0, 1.0) == near(0.8));  // its own
  CHECK(rate_at(0.7, 1.0) == near(0.7));
}

TEST_CASE("one change reaches all members and nobody else, and a speed that is back at once reaches nobody") {
  Changes changes;
  FlowClock clock(&changes);
  FluidSystem& fluid = clock.simulation.fluid();
  const DomainId domain = fluid.add_domain(), other = fluid.add_domain();
  const std::array laws{term(domain, 0.0, 1.0)}, others{term(other, 0.0, 1.0)};
  for (std::uint64_t tag = 1; tag <= 5; ++tag)
    clock.start(tag, {}, {.demands = {}, .laws = laws, .activity = tag});
  clock.start(6, {}, {.demands = {}, .laws = others, .activity = 6});
  fluid.next_date();
  CHECK(changes.count == 6);
  fluid.set_speed(domain, 0.5);
  fluid.set_speed(domain, 0.25);
  fluid.next_date();
  CHECK(changes.count == 6 + 5);  // once each, at the last speed
  fluid.set_speed(domain, 0.5);
  fluid.set_speed(domain, 0.25);
  fluid.next_date();
  CHECK(changes.count == 6 + 5);
}

TEST_CASE("a flow that ends leaves its domain, and who takes its number is not bounded by it") {
  FlowClock clock;
  FluidSystem& fluid = clock.simulation.fluid();
  const DomainId domain = fluid.add_domain();
  const std::array laws{term(domain, 0.0, 1.0), term(domain, 0.5, 0.0)};
  clock.start(1, {}, {.demands = {}, .laws = laws});
  clock.at(2.0_s, [&] {
    clock.start(2, {}, {.demands = {}, .bound = 0.5});
    fluid.set_speed(domain, 0.01);
  });
  clock.simulation.run_without_simgrid();
  CHECK(clock.date(1) == near(1.0));
  CHECK(clock.date(2) == near(4.0));
}

TEST_CASE("a new bound replaces the laws of a flow, and new laws its bound") {
  FlowClock clock;
  FluidSystem& fluid = clock.simulation.fluid();
  const DomainId domain = fluid.add_domain(0.5);
  const std::array laws{term(domain, 0.0, 1.0)}, longer{term(domain, 1.0, 1.0)};
  const FlowId flow = clock.start(1, {}, {.demands = {}, .laws = laws});
  const auto rate = [&] {
    fluid.next_date();
    return fluid.rate(flow);
  };
  CHECK(rate() == near(0.5));
  fluid.set_bound(flow, kUnbounded, longer);
  CHECK(rate() == near(1.0 / 3));
  fluid.set_bound(flow, 2.0);
  CHECK(rate() == near(2.0));
  fluid.set_speed(domain, 0.25);
  CHECK(rate() == near(2.0));
  fluid.set_bound(flow, 2.0, laws);
  CHECK(rate() == near(0.25));
}

TEST_CASE("a prepared flow repeats at the speed of then") {
  FlowClock clock;
  FluidSystem& fluid = clock.simulation.fluid();
  const DomainId domain = fluid.add_domain();
  const std::array laws{term(domain, 0.0, 1.0)};
  const FlowId flow = fluid.prepare({.demands = {}, .laws = laws}, &clock, 1);
  fluid.repeat(flow);
  clock.at(1.5_s, [&] { fluid.set_speed(domain, 0.5); });
  clock.at(2.0_s, [&] { fluid.repeat(flow); });
  clock.simulation.run_without_simgrid();
  CHECK(clock.date(1) == near(4.0));
}

TEST_CASE("speeds that are none, and domains that are not there, are refused") {
  FluidSystem fluid;
  const DomainId domain = fluid.add_domain();
  CHECK_THROWS_AS(fluid.set_speed(domain, 0.0), std::invalid_argument);
  CHECK_THROWS_AS(fluid.add_domain(-1.0), std::invalid_argument);
  const std::array absent{term(domain + 1, 0.0, 1.0)}, endless{term(domain, kUnbounded, 1.0)};
  CHECK_THROWS_AS(fluid.start({.demands = {}, .laws = absent}, nullptr), std::invalid_argument);
  CHECK_THROWS_AS(fluid.start({.demands = {}, .laws = endless}, nullptr), std::invalid_argument);
  CHECK_THROWS_AS(fluid.start({}, nullptr), std::invalid_argument);
}

}  // namespace c3::engine_speed_domains_test
