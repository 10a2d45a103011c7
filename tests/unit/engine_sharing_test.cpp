// How flows share resources in time, against values worked out by hand.

#include <doctest/doctest.h>

#include <cmath>
#include <stdexcept>
#include <vector>

#include "engine/errors.hpp"
#include "tests/support/flow_clock.hpp"
#include "tests/support/near.hpp"

namespace c3::engine_sharing_test {

using namespace literals;

namespace {

constexpr int kGpus = 8;
constexpr double kHbm = 3.35e12;   // B/s
constexpr double kLink = 450e9;    // B/s
constexpr double kKernel = 3.0e9;  // bytes of HBM, in 1 ms alone
constexpr double kEdge = 1e9;      // bytes

/// Weights of a kernel and of an edge.
struct Weights {
  double kernel;
  double edge;
};

/// Tags 0..7 are the kernels, 8..15 the edges of a ring that reads HBM at its source and writes at its
/// destination.
struct KernelsBesideRing : FlowClock {
  explicit KernelsBesideRing(Weights weights) {
    std::vector<ResourceId> hbm, link;
    for (int g = 0; g < kGpus; ++g)
      hbm.push_back(resource(kHbm));
    for (int g = 0; g < kGpus; ++g)
      link.push_back(resource(kLink));
    for (std::size_t g = 0; g < kGpus; ++g) {
      start(g, {{hbm[g], kKernel}}, {.demands = {}, .bound = 1000.0, .weight = weights.kernel});
      start(g + kGpus, {{hbm[g], kEdge}, {link[g], kEdge}, {hbm[(g + 1) % kGpus], kEdge}},
            {.demands = {}, .weight = weights.edge});
    }
    simulation.run();
  }
};

}  // namespace

TEST_CASE("byte-fair HBM: a 1 ms kernel beside a ring takes 1.224490 ms, the ring 2.222222 ms") {
  // Equal weight per byte: the edges stop at their links, 450 GB/s; each HBM carries two of them, which leaves
  // the kernel 3.35 - 0.9 = 2.45 TB/s. 3.0 GB / 2.45 TB/s = 1.2244898 ms; 1 GB / 450 GB/s = 2.2222222 ms.
  const KernelsBesideRing run({.kernel = 1.0 / kKernel, .edge = 1.0 / kEdge});
  for (std::uint64_t g = 0; g < kGpus; ++g) {
    CHECK(run.date(g) == near(3.0 / 2.45 * 1e-3));
    CHECK(run.date(g + kGpus) == near(1.0 / 450.0));
  }
}

TEST_CASE("equal slowdown: a 1 ms kernel beside a ring takes 1.164179 ms, the ring 2.386401 ms") {
  // Weights are the rates alone, 1000/s and 450/s, so everybody runs at the same part s of them:
  // s (3.0 + 2 * 0.45) TB/s = 3.35 TB/s. The kernel takes 1/s ms = 3.9/3.35 ms = 1.1641791 ms; by then an edge
  // has moved 0.45 GB, and the other 0.55 GB take 0.55/0.45 ms: 3.9/3.35 + 0.55/0.45 = 2.3864013 ms.
  const KernelsBesideRing run({.kernel = 1000.0, .edge = 450.0});
  for (std::uint64_t g = 0; g < kGpus; ++g) {
    CHECK(run.date(g) == near(3.9 / 3.35 * 1e-3));
    CHECK(run.date(g + kGpus) == near((3.9 / 3.35 + 0.55 / 0.45) * 1e-3));
  }
}

TEST_CASE("a kernel held to 116 of 132 SMs until a collective gives back its 16 takes 1.034478 ms") {
  // 128 MB at 450 GB/s: 0.2844444 ms at 116/132 of the speed, then full speed: 1 ms + 0.2844444 ms * 16/132.
  FlowClock clock;
  const ResourceId sms = clock.resource(132.0);
  const ResourceId link = clock.resource(kLink);
  const FlowId kernel = clock.start(1, {{sms, 132.0 * 1e-3}}, {.demands = {}, .bound = 1000.0 * 116.0 / 132.0});
  clock.start(2, {{link, 128e6}});
  clock.after(2, [&] { clock.simulation.fluid().set_bound(kernel, 1000.0); });
  clock.simulation.run();
  CHECK(clock.date(2) == near(128e6 / kLink));
  CHECK(clock.date(1) == near(1e-3 + 128e6 / kLink * 16.0 / 132.0));
}

TEST_CASE("two kernels with CU priority 3:1 take 1.333333 and 2.0 ms") {
  // The first runs at 3/4: 4/3 ms. The second has then done 1/3 and does the rest alone: 4/3 + 2/3 ms.
  FlowClock clock;
  const ResourceId cus = clock.resource(304.0);
  clock.start(1, {{cus, 304.0 * 1e-3}}, {.demands = {}, .weight = 3.0});
  clock.start(2, {{cus, 304.0 * 1e-3}}, {.demands = {}, .weight = 1.0});
  clock.simulation.run();
  CHECK(clock.date(1) == near(4e-3 / 3.0));
  CHECK(clock.date(2) == near(2e-3));
}

TEST_CASE("a weight changed in flight shares anew from then on") {
  // 1:1 for 1 s: each has done 1/2 of its 1 s of work. Then 3:1: the first needs 2/3 s more; the second has
  // done 1/2 + 1/6 by then and needs 1/3 s alone.
  FlowClock clock;
  const ResourceId resource = clock.resource(1.0);
  const FlowId first = clock.start(1, {{resource, 1.0}});
  clock.start(2, {{resource, 1.0}});
  clock.at(1.0_s, [&] { clock.simulation.fluid().set_weight(first, 3.0); });
  clock.simulation.run();
  CHECK(clock.date(1) == near(1.0 + 2.0 / 3.0));
  CHECK(clock.date(2) == near(2.0));
}

TEST_CASE("a capacity halved in flight doubles what remains") {
  FlowClock clock;
  const ResourceId hbm = clock.resource(100.0);
  clock.start(1, {{hbm, 100.0}});
  clock.at(0.5_s, [&] { clock.simulation.fluid().set_capacity(hbm, 50.0); });
  clock.simulation.run();
  CHECK(clock.date(1) == near(1.5));
}

TEST_CASE("a capacity that follows the load agrees with it, whatever happened before") {
  // HBM gives 100 / (1 + w) B/s for a written share w. A reader of weight 3 beside a writer of weight 1: w =
  // 1/4 and 80 B/s, 60 and 20. The reader's 60 B take 1 s; the writer has 40 of 60 B left and gets 50 B/s
  // alone: 1.8 s.
  struct WrittenShare final : CapacityRule {
    ResourceId hbm = 0, written = 0;
    double capacity(const FlowSolver& rates) override {
      const double total = rates.load(hbm);
      return total > 0.0 ? 100.0 / (1.0 + rates.load(written) / total) : rates.capacity(hbm);
    }
  } rule;
  for (const bool disturbed : {false, true}) {
    FlowClock clock;
    rule.hbm = clock.resource(100.0);
    rule.written = clock.resource(kUnbounded);
    clock.simulation.fluid().set_capacity_rule(rule.hbm, rule);
    clock.start(1, {{rule.hbm, 60.0}}, {.demands = {}, .weight = 3.0 / 60.0});
    clock.start(2, {{rule.hbm, 60.0}, {rule.written, 60.0}}, {.demands = {}, .weight = 1.0 / 60.0});
    const ResourceId elsewhere = clock.resource(1.0);
    if (disturbed) clock.at(0.3_s, [&] { clock.start(3, {{elsewhere, 0.1}}); });
    clock.simulation.run();
    CHECK(clock.date(1) == near(1.0));
    CHECK(clock.date(2) == near(1.8));
  }
}

TEST_CASE("a meter counts what passes and limits nothing") {
  FlowClock clock;
  const ResourceId meter = clock.resource(kUnbounded);
  const ResourceId link = clock.resource(10.0);
  clock.start(1, {{link, 10.0}, {meter, 1e30}});
  clock.start(2, {{meter, 1e30}}, {.demands = {}, .bound = 4.0});
  clock.simulation.fluid().next_date();
  CHECK(clock.simulation.fluid().rates().load(meter) == near(5e30));
  clock.simulation.run();
  CHECK(clock.date(1) == near(1.0));
  CHECK(clock.date(2) == near(0.25));
}

TEST_CASE("a flow without demands runs at its bound") {
  FlowClock clock;
  clock.start(1, {}, {.demands = {}, .bound = 4.0});
  clock.simulation.run();
  CHECK(clock.date(1) == near(0.25));
}

TEST_CASE("progress is what the rate made of the time") {
  FlowClock clock;
  const ResourceId link = clock.resource(10.0);
  const FlowId flow = clock.start(1, {{link, 10.0}});
  double remaining = 0.0;
  clock.at(0.25_s, [&] { remaining = clock.simulation.fluid().remaining(flow); });
  CHECK(clock.rate(flow) == near(1.0));
  clock.simulation.run();
  CHECK(remaining == near(0.75));
  CHECK_FALSE(clock.simulation.fluid().in_flight(flow));
  CHECK(clock.simulation.fluid().remaining(flow) == 0.0);
  CHECK(clock.simulation.fluid().rate(flow) == 0.0);
  CHECK(clock.simulation.fluid().completed_flows() == 1);
}

TEST_CASE("the name of an ended flow never names the flow that took its place") {
  FlowClock clock;
  const ResourceId link = clock.resource(10.0);
  const FlowId first = clock.start(1, {{link, 10.0}});
  FlowId second;
  clock.after(1, [&] {
    second = clock.start(2, {{link, 10.0}});
    clock.simulation.fluid().set_bound(first, 0.1);  // must not slow the second
  });
  clock.simulation.run();
  CHECK(second.index == first.index);
  CHECK(clock.date(2) == near(2.0));
}

TEST_CASE("a flow on a resource of no capacity waits until there is some") {
  FlowClock clock;
  const ResourceId link = clock.resource(0.0);
  const FlowId flow = clock.start(1, {{link, 10.0}});
  CHECK(clock.rate(flow) == 0.0);
  clock.at(3.0_s, [&] { clock.simulation.fluid().set_capacity(link, 10.0); });
  clock.simulation.run();
  CHECK(clock.date(1) == near(4.0));
}

TEST_CASE("flows that no capacity is left for are a deadlock") {
  FlowClock clock;
  const ResourceId link = clock.resource(10.0);
  clock.start(1, {{link, 10.0}});
  clock.start(2, {{link, 10.0}});
  clock.at(0.5_s, [&] { clock.simulation.fluid().set_capacity(link, 0.0); });
  CHECK_THROWS_WITH_AS(clock.simulation.run(),
                       "deadlock: nothing is in flight that could end these waits: flows without bandwidth: 2",
                       DeadlockError);
  CHECK(clock.simulation.now().value == 0.5);
}

TEST_CASE("a flow that is not valid is refused at its start, and names what is wrong") {
  FlowClock clock;
  const ResourceId link = clock.resource(10.0);
  const auto refused = [&](const std::vector<Demand>& demands, const FlowSpec& spec, const char* why) {
    CAPTURE(why);
    CHECK_THROWS_WITH_AS(clock.start(1, demands, spec), why, std::invalid_argument);
  };
  refused({{link, 1.0}}, {.demands = {}, .bound = 0.0}, "FluidSystem::start: bound must be > 0");
  refused({{link, 1.0}}, {.demands = {}, .bound = std::nan("")}, "FluidSystem::start: bound must be > 0");
  refused({{link, 1.0}}, {.demands = {}, .weight = 0.0}, "FluidSystem::start: weight must be > 0 and finite");
  refused({{link, 1.0}}, {.demands = {}, .weight = kUnbounded},
          "FluidSystem::start: weight must be > 0 and finite");
  refused({{link, 1.0}}, {.demands = {}, .priority = kPriorityClasses},
          "FluidSystem::start: priority class out of range");
  refused({{link + 1, 1.0}}, {}, "FluidSystem::start: no resource 1");
  refused({{link, 0.0}}, {}, "FluidSystem::start: demands must be > 0 and finite");
  refused({{link, kUnbounded}}, {}, "FluidSystem::start: demands must be > 0 and finite");
  refused({}, {}, "FluidSystem::start: a flow without demands needs a finite bound");
  CHECK(clock.simulation.fluid().flows_in_flight() == 0);
  CHECK_THROWS_AS(clock.resource(-1.0), std::invalid_argument);
  CHECK_THROWS_AS(clock.simulation.fluid().set_capacity(link, std::nan("")), std::invalid_argument);
}

TEST_CASE("a flow that nothing limits is an error, not a hang") {
  FlowClock clock;
  const ResourceId meter = clock.resource(kUnbounded);
  clock.start(1, {{meter, 1.0}});
  CHECK_THROWS_WITH_AS(clock.simulation.run(), "a flow has neither a bound nor a resource that limits it",
                       std::logic_error);
}

}  // namespace c3::engine_sharing_test
