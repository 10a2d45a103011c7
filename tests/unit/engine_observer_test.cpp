// What an observer hears of a run.

#include "engine/observer.hpp"

#include <doctest/doctest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

#include "engine/simulation.hpp"
#include "tests/support/flow_clock.hpp"
#include "tests/support/near.hpp"

namespace c3::engine_observer_test {

using namespace literals;

namespace {

/// Integrates utilisation and rates, and checks that dates never decrease.
class Accountant final : public Observer {
 public:
  void resource_added(ResourceId id, const ResourceInfo& info, double capacity) override {
    names[id] = info.name;
    capacities[id] = capacity;
  }
  void capacity_changed(ResourceId id, Seconds at, double capacity) override {
    see(at);
    capacities[id] = capacity;
  }
  void activity_started(ActivityId id, const ActivityInfo& info, Seconds at) override {
    see(at);
    started[id] = std::string(info.name);
  }
  void activity_finished(ActivityId id, Seconds at) override {
    see(at);
    settle(progress[id], at, 0.0);
    finished.push_back(id);
  }
  void depends(ActivityId successor, ActivityId predecessor, DependencyKind kind) override {
    edges.push_back({successor, predecessor, kind});
  }
  void rate_changed(ActivityId activity, Seconds at, double rate) override {
    see(at);
    settle(progress[activity], at, rate);
  }
  void utilisation(ResourceId id, Seconds at, double used) override {
    see(at);
    over = over || used > capacities[id] * (1.0 + 1e-9);
    settle(use[id], at, used);
  }

  struct Integral {
    double sum = 0.0;
    double since = 0.0;
    double value = 0.0;
  };
  struct Edge {
    ActivityId successor, predecessor;
    DependencyKind kind;
    bool operator==(const Edge&) const = default;
  };
  static void settle(Integral& integral, Seconds at, double value) {
    integral.sum += integral.value * (at.value - integral.since);
    integral.since = at.value;
    integral.value = value;
  }

  std::map<ResourceId, std::string> names;
  std::map<ResourceId, double> capacities;
  std::map<ActivityId, std::string> started;
  std::vector<ActivityId> finished;
  std::vector<Edge> edges;
  std::map<ResourceId, Integral> use;
  std::map<ActivityId, Integral> progress;
  bool is_monotone = true;
  bool over = false;

 private:
  void see(Seconds at) {
    is_monotone = is_monotone && at.value >= last_;
    last_ = at.value;
  }
  double last_ = 0.0;
};

}  // namespace

TEST_CASE("an observer hears dates in order, use that sums to the bytes moved, and rates that sum to 1") {
  Accountant accountant;
  FlowClock clock(&accountant);
  std::vector<ResourceId> resources;
  resources.reserve(6);
  for (int r = 0; r < 6; ++r)
    resources.push_back(clock.resource(50.0 + 10.0 * r));
  std::mt19937 random(7);
  std::vector<double> bytes(resources.size(), 0.0);
  std::vector<ActivityId> activities;
  for (std::uint64_t i = 0; i < 60; ++i) {
    const auto a = static_cast<ResourceId>(random() % 6);
    const auto b = static_cast<ResourceId>((a + 1 + random() % 5) % 6);
    const double size = 1.0 + static_cast<double>(random() % 100);
    bytes[a] += size;
    bytes[b] += 2.0 * size;
    clock.at({0.05 * static_cast<double>(random() % 40)}, [&, a, b, size, i] {
      const ActivityId activity =
          clock.simulation.begin_activity({.name = "copy", .kind = ActivityKind::transfer});
      activities.push_back(activity);
      clock.start(i, {{a, size}, {b, 2.0 * size}},
                  {.demands = {}, .priority = static_cast<PriorityClass>(i % 2), .activity = activity});
      clock.after(i, [&, activity] { clock.simulation.end_activity(activity); });
    });
  }
  clock.at(1.0_s, [&] { clock.simulation.fluid().set_capacity(resources[0], 40.0); });
  clock.simulation.run();

  CHECK(accountant.is_monotone);
  CHECK_FALSE(accountant.over);
  CHECK(accountant.capacities[resources[0]] == 40.0);
  for (const ResourceId r : resources) {
    CHECK(accountant.use[r].value == 0.0);  // idle at the end
    CHECK(accountant.use[r].sum == near(bytes[r]));
  }
  REQUIRE(activities.size() == 60);
  CHECK(accountant.started.size() == 60);
  CHECK(accountant.finished.size() == 60);
  for (const ActivityId activity : activities)
    CHECK(accountant.progress[activity].sum == near(1.0));
}

TEST_CASE("an observer hears which activity waited for which, and why") {
  Accountant accountant;
  Simulation simulation(&accountant);
  const ActivityId first = simulation.begin_activity({.name = "gemm"});
  const ActivityId second = simulation.begin_activity({.name = "all_gather", .kind = ActivityKind::collective});
  simulation.add_dependency(second, first, DependencyKind::data);
  simulation.add_dependency(second, kNoActivity, DependencyKind::launch);  // no edge to nothing
  simulation.end_activity(first);
  CHECK(accountant.started == std::map<ActivityId, std::string>{{first, "gemm"}, {second, "all_gather"}});
  CHECK(accountant.edges == std::vector<Accountant::Edge>{{second, first, DependencyKind::data}});
  CHECK(accountant.finished == std::vector<ActivityId>{first});
}

TEST_CASE("an observer hears names, units and capacities of resources") {
  Accountant accountant;
  Simulation simulation(&accountant);
  const ResourceId hbm = simulation.fluid().add_resource({.name = "gpu0.hbm", .unit = "B/s", .gpu = 0}, 5.3e12);
  CHECK(accountant.names[hbm] == "gpu0.hbm");
  CHECK(accountant.capacities[hbm] == 5.3e12);
}

TEST_CASE("activities have no number when nobody observes") {
  Simulation simulation;
  CHECK_FALSE(simulation.is_observed());
  CHECK(simulation.begin_activity({.name = "gemm"}) == kNoActivity);
}

}  // namespace c3::engine_observer_test
