// FlowSolver repairs rates locally; this file computes them afresh, plainly, from the definition in
// engine/flow.hpp, in long double, and compares after every change of random systems.

#include "engine/flow_solver.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace c3::engine_flow_solver_test {

namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr std::size_t kRates = 60'000;  // per family of systems
#else
constexpr std::size_t kRates = 300'000;
#endif

using Real = long double;

struct OracleFlow {
  std::vector<Demand> demands;
  double bound = kUnbounded;
  double weight = 1.0;
  PriorityClass priority = 0;
  FlowSolver::Index index = 0;  ///< in the solver under test
  Real rate = 0.0L;
};

/// The definition, without any idea of how to be fast.
class Oracle {
 public:
  std::vector<double> capacities;
  std::vector<OracleFlow> flows;
  std::array<double, kPriorityClasses> floors{};

  void solve() {
    for (OracleFlow& flow : flows)
      flow.rate = 0.0L;
    const auto promised = promises();
    std::vector<Real> left(capacities.begin(), capacities.end());
    for (const auto& p : promised) {
      for (std::size_t r = 0; r < left.size(); ++r)
        left[r] -= p[r];
    }
    for (PriorityClass c = 0; c < kPriorityClasses; ++c) {
      for (std::size_t r = 0; r < left.size(); ++r)
        left[r] += promised[c][r];
      fill(c, left);
    }
    for (PriorityClass c = 0; c < kPriorityClasses; ++c)
      fill(c, left);  // what is left of promises, on top
  }

 private:
  /// Loads, by class and resource, that each class alone would put on its part of the capacities.
  std::vector<std::vector<Real>> promises() {
    std::vector<std::vector<Real>> promised(kPriorityClasses, std::vector<Real>(capacities.size(), 0.0L));
    for (PriorityClass c = 0; c < kPriorityClasses; ++c) {
      if (floors[c] == 0.0) continue;
      std::vector<Real> left;
      left.reserve(capacities.size());
      for (const double capacity : capacities)
        left.push_back(static_cast<Real>(capacity) * static_cast<Real>(floors[c]));
      fill(c, left);
      for (OracleFlow& flow : flows) {
        if (flow.priority != c) continue;
        for (const Demand& d : flow.demands) {
          if (std::isfinite(capacities[d.resource]))
            promised[c][d.resource] += static_cast<Real>(d.amount) * flow.rate;
        }
        flow.rate = 0.0L;
      }
    }
    return promised;
  }

  // Raises the common level of one class from the rates that it has; at each step the lowest stop, a bound or a
  // full resource, fixes flows.
  void fill(PriorityClass priority, std::vector<Real>& left) {
    std::vector<OracleFlow*> rising;
    for (OracleFlow& flow : flows) {
      if (flow.priority == priority) rising.push_back(&flow);
    }
    for (std::size_t r = 0; r < left.size(); ++r) {
      if (left[r] < 1e-13L * static_cast<Real>(capacities[r])) left[r] = 0.0L;  // rounding of a full resource
    }
    while (!rising.empty()) {
      std::vector<Real> slope(left.size(), 0.0L);
      for (const OracleFlow* flow : rising) {
        for (const Demand& d : flow->demands)
          slope[d.resource] += static_cast<Real>(d.amount) * static_cast<Real>(flow->weight);
      }
      Real rise = std::numeric_limits<Real>::infinity();
      std::size_t full = left.size();
      for (std::size_t r = 0; r < left.size(); ++r) {
        if (slope[r] > 0.0L && left[r] / slope[r] < rise) rise = left[r] / slope[r], full = r;
      }
      const OracleFlow* bounded = nullptr;
      for (const OracleFlow* flow : rising) {
        const Real stop = (static_cast<Real>(flow->bound) - flow->rate) / static_cast<Real>(flow->weight);
        if (stop <= rise) rise = stop, bounded = flow;
      }
      rise = std::max(0.0L, rise);
      for (OracleFlow* flow : rising)
        flow->rate += rise * static_cast<Real>(flow->weight);
      for (std::size_t r = 0; r < left.size(); ++r)
        left[r] -= slope[r] > 0.0L ? rise * slope[r] : 0.0L;
      if (bounded == nullptr) left[full] = 0.0L;
      std::erase_if(rising, [&](const OracleFlow* flow) {
        const bool uses_full =
            std::ranges::any_of(flow->demands, [&](const Demand& d) { return d.resource == full; });
        return bounded != nullptr ? flow == bounded : uses_full;
      });
    }
  }
};

/// Shape of random systems.
struct Family {
  const char* name;
  std::size_t resources;
  std::size_t flows;
  std::size_t demands;     ///< most of one flow
  double decades;          ///< weights, amounts and bounds spread over 10^-decades .. 10^decades
  double amount;           ///< typical
  double capacity;         ///< typical
  double zero_capacities;  ///< share of resources
  double meters;           ///< share of resources with infinite capacity
  double gangs;            ///< share of flows that use every resource
  int classes;
  double floor;            ///< largest promise to one class
  bool ties;               ///< few distinct values, so that many stops coincide
  double unbounded = 0.5;  ///< share of flows that a resource must limit
  int solves = 100;        ///< of one system
};

/// A random system in two copies: the solver under test and the oracle.
class Systems {
 public:
  Systems(const Family& family, std::uint64_t seed) : family_(family), random_(seed) {
    for (std::size_t r = 0; r < family.resources; ++r) {
      oracle_.capacities.push_back(random_capacity());
      solver_.add_resource(oracle_.capacities.back());
    }
    for (PriorityClass c = 0; c < family.classes && family.floor > 0.0; ++c) {
      oracle_.floors[c] = chance(0.5) ? uniform(0.0, family.floor) : 0.0;
      solver_.set_floor(c, oracle_.floors[c]);
    }
  }

  void change() {
    const double kind = uniform(0.0, 1.0);
    const bool grow = oracle_.flows.size() < family_.flows / 2;
    if (!paused_.empty() && chance(0.2)) return resume_or_remove();
    if (oracle_.flows.empty() || grow || (kind < 0.3 && oracle_.flows.size() < family_.flows))
      return add_flow();
    const std::size_t i = pick(oracle_.flows.size());
    OracleFlow& flow = oracle_.flows[i];
    if (kind < 0.6) {
      if (kind < 0.45) {
        solver_.remove_flow(flow.index);
      } else {
        solver_.pause(flow.index);
        paused_.push_back(flow);
      }
      oracle_.flows.erase(oracle_.flows.begin() + static_cast<std::ptrdiff_t>(i));
    } else if (kind < 0.7) {
      const auto r = static_cast<ResourceId>(pick(family_.resources));
      const bool becomes_meter = chance(family_.meters) && all_are_limited_without(r);
      oracle_.capacities[r] = becomes_meter ? kUnbounded : random_capacity(false);
      solver_.set_capacity(r, oracle_.capacities[r]);
    } else if (kind < 0.8) {
      flow.bound = random_bound(flow.demands);
      solver_.set_bound(flow.index, flow.bound);
    } else if (kind < 0.9) {
      flow.weight = spread() / family_.amount;
      solver_.set_weight(flow.index, flow.weight);
    } else {
      flow.priority = random_class();
      solver_.set_priority(flow.index, flow.priority);
    }
  }

  void compare(double& worst_error, std::size_t& rates) {
    solver_.solve();
    oracle_.solve();
    for (const OracleFlow& flow : oracle_.flows) {
      const Real expected = flow.rate;
      const Real actual = static_cast<Real>(solver_.rate(flow.index));
      const Real error = expected == actual ? 0.0L : std::abs(actual - expected) / std::max(actual, expected);
      worst_error = std::max(worst_error, static_cast<double>(error));
      ++rates;
    }
  }

  bool is_over_capacity() const {
    for (ResourceId r = 0; r < oracle_.capacities.size(); ++r) {
      if (used(r) > static_cast<Real>(oracle_.capacities[r]) * (1.0L + 1e-9L)) return true;
    }
    return false;
  }

  /// Every flow runs at its bound or uses a resource that is full.
  bool conserves_work() const {
    return std::ranges::all_of(oracle_.flows, [this](const OracleFlow& flow) {
      if (solver_.rate(flow.index) >= flow.bound * (1.0 - 1e-9)) return true;
      return std::ranges::any_of(flow.demands, [this](const Demand& d) {
        return used(d.resource) >= static_cast<Real>(oracle_.capacities[d.resource]) * (1.0L - 1e-9L);
      });
    });
  }

  bool reports_loads() const {
    for (ResourceId r = 0; r < oracle_.capacities.size(); ++r) {
      const Real scale = std::max(
          used(r), std::isfinite(oracle_.capacities[r]) ? static_cast<Real>(oracle_.capacities[r]) : 0.0L);
      if (std::abs(static_cast<Real>(solver_.load(r)) - used(r)) > 1e-9L * scale) return false;
    }
    return true;
  }

 private:
  double uniform(double low, double high) { return std::uniform_real_distribution(low, high)(random_); }
  bool chance(double probability) { return uniform(0.0, 1.0) < probability; }
  std::size_t pick(std::size_t count) {
    return std::uniform_int_distribution<std::size_t>(0, count - 1)(random_);
  }
  double spread() {
    return family_.ties ? std::ldexp(1.0, static_cast<int>(pick(3)) - 1)
                        : std::pow(10.0, uniform(-family_.decades, family_.decades));
  }
  PriorityClass random_class() {
    return static_cast<PriorityClass>(pick(static_cast<std::size_t>(family_.classes)));
  }

  double random_capacity(bool may_be_meter = true) {
    if (may_be_meter && chance(family_.meters)) return kUnbounded;
    if (chance(family_.zero_capacities)) return 0.0;
    return family_.capacity * spread();
  }

  bool all_are_limited_without(ResourceId resource) const {
    const auto is_limited = [&](const OracleFlow& flow) {
      return std::isfinite(flow.bound) || std::ranges::any_of(flow.demands, [&](const Demand& d) {
               return d.resource != resource && std::isfinite(oracle_.capacities[d.resource]);
             });
    };
    return std::ranges::all_of(oracle_.flows, is_limited) && std::ranges::all_of(paused_, is_limited);
  }

  double random_bound(const std::vector<Demand>& demands) {
    const bool limited = std::ranges::any_of(
        demands, [&](const Demand& d) { return std::isfinite(oracle_.capacities[d.resource]); });
    return limited && chance(family_.unbounded)
               ? kUnbounded
               : family_.capacity / family_.amount / static_cast<double>(family_.flows) * spread();
  }

  void add_flow() {
    OracleFlow flow;
    const std::size_t count = chance(family_.gangs) ? family_.resources : 1 + pick(family_.demands);
    std::vector<ResourceId> resources(family_.resources);
    for (ResourceId r = 0; r < resources.size(); ++r)
      resources[r] = r;
    std::ranges::shuffle(resources, random_);
    for (std::size_t d = 0; d < count; ++d)
      flow.demands.push_back({resources[d], family_.amount * spread()});
    flow.bound = random_bound(flow.demands);
    flow.weight = spread() / family_.amount;
    flow.priority = random_class();
    flow.index = solver_.add_flow(
        {.demands = flow.demands, .bound = flow.bound, .weight = flow.weight, .priority = flow.priority});
    oracle_.flows.push_back(flow);
  }

  /// Some of them in the instant of their pause, some changed since.
  void resume_or_remove() {
    OracleFlow flow = paused_.back();
    paused_.pop_back();
    if (chance(0.2)) return solver_.remove_flow(flow.index);
    if (chance(0.3)) {
      flow.weight = spread() / family_.amount;
      solver_.set_weight(flow.index, flow.weight);
      flow.priority = random_class();
      solver_.set_priority(flow.index, flow.priority);
    }
    solver_.resume(flow.index);
    oracle_.flows.push_back(flow);
  }

  Real used(ResourceId resource) const {
    Real sum = 0.0L;
    for (const OracleFlow& flow : oracle_.flows) {
      for (const Demand& d : flow.demands) {
        if (d.resource == resource)
          sum += static_cast<Real>(d.amount) * static_cast<Real>(solver_.rate(flow.index));
      }
    }
    return sum;
  }

  Family family_;
  std::mt19937_64 random_;
  FlowSolver solver_;
  Oracle oracle_;
  std::vector<OracleFlow> paused_;  ///< known to the solver alone
};

void compare_with_oracle(const Family& family) {
  double worst_error = 0.0;
  std::size_t rates = 0, over = 0, idle = 0, misreported = 0;
  for (std::uint64_t seed = 1; rates < kRates; ++seed) {
    Systems systems(family, seed);
    for (int solve = 0; solve < family.solves; ++solve) {
      for (std::uint64_t changes = 1 + (seed + static_cast<std::uint64_t>(solve)) % 3; changes > 0; --changes)
        systems.change();
      systems.compare(worst_error, rates);
      over += systems.is_over_capacity() ? 1 : 0;
      idle += systems.conserves_work() ? 0 : 1;
      misreported += systems.reports_loads() ? 0 : 1;
    }
  }
  MESSAGE(std::string(family.name) << ": " << rates << " rates compared, worst relative error " << worst_error);
  CHECK(worst_error < 1e-8);
  CHECK(over == 0);
  CHECK(idle == 0);
  CHECK(misreported == 0);
}

}  // namespace

TEST_CASE("random systems with weights over four decades get the max-min rates of brute-force filling") {
  compare_with_oracle({.name = "sparse",
                       .resources = 20,
                       .flows = 40,
                       .demands = 4,
                       .decades = 2.0,
                       .amount = 1.0,
                       .capacity = 10.0,
                       .zero_capacities = 0.03,
                       .meters = 0.05,
                       .gangs = 0.0,
                       .classes = 1,
                       .floor = 0.0,
                       .ties = false});
}

TEST_CASE("bytes against terabytes per second: rates of GPU-sized numbers match brute-force filling") {
  compare_with_oracle({.name = "GPU-sized",
                       .resources = 12,
                       .flows = 24,
                       .demands = 5,
                       .decades = 0.7,
                       .amount = 3e9,
                       .capacity = 3.35e12,
                       .zero_capacities = 0.0,
                       .meters = 0.1,
                       .gangs = 0.05,
                       .classes = 1,
                       .floor = 0.0,
                       .ties = false});
}

TEST_CASE("rates stay those of brute-force filling when resources are idle for long, and then full") {
  compare_with_oracle({.name = "ample",
                       .resources = 10,
                       .flows = 30,
                       .demands = 4,
                       .decades = 0.8,
                       .amount = 1.0,
                       .capacity = 10.0,
                       .zero_capacities = 0.0,
                       .meters = 0.05,
                       .gangs = 0.02,
                       .classes = 1,
                       .floor = 0.0,
                       .ties = false,
                       .unbounded = 0.01,
                       .solves = 1000});
}

TEST_CASE("where many stops coincide, rates match brute-force filling") {
  compare_with_oracle({.name = "ties",
                       .resources = 10,
                       .flows = 30,
                       .demands = 3,
                       .decades = 0.0,
                       .amount = 1.0,
                       .capacity = 8.0,
                       .zero_capacities = 0.05,
                       .meters = 0.05,
                       .gangs = 0.1,
                       .classes = 1,
                       .floor = 0.0,
                       .ties = true});
}

TEST_CASE("strict priority classes get the rates of brute-force filling class by class") {
  compare_with_oracle({.name = "classes",
                       .resources = 12,
                       .flows = 24,
                       .demands = 3,
                       .decades = 1.0,
                       .amount = 1.0,
                       .capacity = 10.0,
                       .zero_capacities = 0.03,
                       .meters = 0.05,
                       .gangs = 0.03,
                       .classes = 3,
                       .floor = 0.0,
                       .ties = false});
}

TEST_CASE("rates stay those of brute-force filling when classes come, go and become one") {
  compare_with_oracle({.name = "few flows",
                       .resources = 6,
                       .flows = 5,
                       .demands = 2,
                       .decades = 0.5,
                       .amount = 1.0,
                       .capacity = 10.0,
                       .zero_capacities = 0.03,
                       .meters = 0.05,
                       .gangs = 0.05,
                       .classes = 2,
                       .floor = 0.5,
                       .ties = false});
}

TEST_CASE("priority classes with floors get the rates of brute-force filling within promised shares") {
  compare_with_oracle({.name = "floors",
                       .resources = 12,
                       .flows = 24,
                       .demands = 3,
                       .decades = 1.0,
                       .amount = 1.0,
                       .capacity = 10.0,
                       .zero_capacities = 0.03,
                       .meters = 0.05,
                       .gangs = 0.03,
                       .classes = 3,
                       .floor = 0.33,
                       .ties = false});
}

}  // namespace c3::engine_flow_solver_test
