// Speeds that change while flows come and go, against the same flows solved from scratch with bounds worked
// out from the definition in engine/bound_law.hpp.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "engine/fluid_system.hpp"

namespace c3::engine_speed_domains_test {

namespace {

constexpr int kSystems = 300, kChanges = 200;
constexpr std::size_t kResources = 5, kMostFlows = 25, kMostLaws = 3;

/// Seconds at \p speed, plainly.
double plain_time(const BoundLaw& law, double speed) {
  long double sum = 0.0L;
  for (const BoundLaw::Phase& phase : law.phases)
    sum += std::max<long double>(phase.fixed + phase.scaled / static_cast<long double>(speed), phase.least);
  sum = std::max<long double>(sum, law.least);
  if (std::isinf(law.overlap)) return static_cast<double>(std::max<long double>(sum, law.beside));
  const long double power = law.overlap;
  return static_cast<double>(
      std::pow(std::pow(sum, power) + std::pow(static_cast<long double>(law.beside), power), 1.0L / power));
}

struct Known {
  FlowId id;
  std::vector<Demand> demands;
  double bound = 1.0, weight = 1.0;
  std::vector<BoundTerm> laws;
  bool prepared = false;
};

class Systems {
 public:
  explicit Systems(std::uint64_t seed) : random_(seed) {
    for (std::size_t r = 0; r < kResources; ++r)
      fluid_.add_resource({}, uniform(0.5, 4.0));
    for (std::size_t d = 0; d <= pick(4); ++d)
      speeds_.push_back(fluid_.speed(fluid_.add_domain(uniform(0.2, 2.0))));
  }

  void change() {
    const double kind = uniform(0.0, 1.0);
    if (flows_.empty() || (kind < 0.3 && flows_.size() < kMostFlows)) return start();
    Known& flow = flows_[pick(flows_.size())];
    if (kind < 0.6) {
      const auto domain = static_cast<DomainId>(pick(speeds_.size()));
      speeds_[domain] = uniform(0.0, 1.0) < 0.2 ? 1.0 : uniform(0.2, 2.0);
      fluid_.set_speed(domain, speeds_[domain]);
    } else if (kind < 0.7) {
      flow.bound = uniform(0.05, 1.0);
      flow.laws = random_laws();
      fluid_.set_bound(flow.id, flow.bound, flow.laws);
    } else if (kind < 0.8) {
      advance(uniform(0.0, 0.999));
    } else if (kind < 0.9) {
      advance(1.0);
    } else if (flow.prepared && !fluid_.in_flight(flow.id)) {
      fluid_.repeat(flow.id, uniform(0.1, 1.0));
    }
    std::erase_if(flows_,
                  [this](const Known& known) { return !known.prepared && !fluid_.in_flight(known.id); });
  }

  /// \returns the largest relative error of a rate.
  double compare() {
    fluid_.next_date();
    FlowSolver afresh;
    for (ResourceId r = 0; r < kResources; ++r)
      afresh.add_resource(fluid_.rates().capacity(r));
    std::vector<std::pair<FlowId, FlowSolver::Index>> pairs;
    for (const Known& flow : flows_) {
      if (!fluid_.in_flight(flow.id)) continue;
      double bound = flow.bound;
      for (const BoundTerm& term : flow.laws)
        bound = std::min(bound, 1.0 / plain_time(term.law, speeds_[term.domain]));
      pairs.emplace_back(flow.id,
                         afresh.add_flow({.demands = flow.demands, .bound = bound, .weight = flow.weight}));
    }
    afresh.solve();
    double worst = 0.0;
    for (const auto& [id, index] : pairs)
      worst = std::max(worst, std::abs(fluid_.rate(id) / afresh.rate(index) - 1.0));
    compared += pairs.size();
    return worst;
  }

  std::size_t compared = 0;

 private:
  double uniform(double low, double high) { return std::uniform_real_distribution(low, high)(random_); }
  std::size_t pick(std::size_t count) {
    return std::uniform_int_distribution<std::size_t>(0, count - 1)(random_);
  }

  /// \p part of the way to the next completion.
  void advance(double part) {
    const double next = fluid_.next_date();
    if (std::isinf(next)) return;
    fluid_.advance_to(part == 1.0 ? next : fluid_.now().value + part * (next - fluid_.now().value));
  }

  std::vector<BoundTerm> random_laws() {
    std::vector<BoundTerm> laws(pick(kMostLaws + 1));
    for (BoundTerm& term : laws) {
      term.domain = static_cast<DomainId>(pick(speeds_.size()));
      for (BoundLaw::Phase& phase : term.law.phases)
        phase = {.fixed = uniform(0.0, 1.0), .scaled = uniform(0.1, 2.0), .least = uniform(0.0, 3.0)};
      term.law.least = uniform(0.0, 8.0);
      term.law.beside = uniform(0.0, 8.0);
      if (pick(2) == 0) term.law.overlap = uniform(1.0, 6.0);
    }
    return laws;
  }

  void start() {
    Known flow;
    flow.bound = uniform(0.05, 1.0);
    flow.weight = uniform(0.2, 5.0);
    flow.laws = random_laws();
    for (ResourceId r = 0; r < kResources; ++r) {
      if (pick(3) == 0) flow.demands.push_back({r, uniform(0.2, 3.0)});
    }
    const FlowSpec spec{.demands = flow.demands, .bound = flow.bound, .laws = flow.laws, .weight = flow.weight};
    flow.prepared = pick(3) == 0;
    flow.id = flow.prepared ? fluid_.prepare(spec, nullptr) : fluid_.start(spec, nullptr);
    flows_.push_back(flow);
  }

  std::mt19937_64 random_;
  FluidSystem fluid_;
  std::vector<double> speeds_;
  std::vector<Known> flows_;
};

}  // namespace

TEST_CASE(
    "rates follow speeds of domains as if every flow had been solved from scratch with its bound of now") {
  double worst = 0.0;
  std::size_t compared = 0;
  for (std::uint64_t seed = 1; seed <= kSystems; ++seed) {
    Systems systems(seed);
    for (int change = 0; change < kChanges; ++change) {
      for (int together = 0; together <= change % 3; ++together)
        systems.change();
      worst = std::max(worst, systems.compare());
    }
    compared += systems.compared;
  }
  MESSAGE(compared << " rates compared, worst relative error " << worst);
  CHECK(compared > 200'000);
  CHECK(worst < 1e-9);
}

}  // namespace c3::engine_speed_domains_test
