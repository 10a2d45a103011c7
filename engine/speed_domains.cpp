#include "engine/speed_domains.hpp"

#include <cmath>
#include <stdexcept>
#include <utility>

namespace c3 { inline namespace engine {
namespace {

void check_speed(double speed) {
  if (!(speed > 0.0) || std::isinf(speed))
    throw std::invalid_argument("SpeedDomains: a speed must be > 0 and finite");
}

}  // namespace

DomainId SpeedDomains::add(double speed) {
  check_speed(speed);
  domains_.push_back({.speed = speed});
  return static_cast<DomainId>(domains_.size() - 1);
}

void SpeedDomains::set_speed(DomainId index, double speed) {
  check_speed(speed);
  Domain& domain = domains_[index];
  if (std::exchange(domain.speed, speed) == speed || std::exchange(domain.changed, true)) return;
  changed_.push_back(index);
}

double SpeedDomains::bound(std::span<const BoundTerm> terms) const {
  double bound = kUnbounded;
  for (const BoundTerm& term : terms)
    bound = std::min(bound, 1.0 / term.law.time(domains_[term.domain].speed));
  return bound;
}

void SpeedDomains::bind(Flow flow, double own, std::span<const BoundTerm> terms) {
  if (flow >= bounds_.size()) {
    if (terms.empty()) return;
    bounds_.resize(flow + 1);
  }
  Bound& bound = bounds_[flow];
  bound.own = own;
  if (std::ranges::equal(bound.terms, terms, {}, &BoundTerm::domain, &BoundTerm::domain)) {
    std::ranges::copy(terms, bound.terms.begin());
    return;
  }
  strike(bound);
  enlist(flow, terms);
}

void SpeedDomains::enlist(Flow flow, std::span<const BoundTerm> terms) {
  Bound& bound = bounds_[flow];
  bound.terms.assign(terms.begin(), terms.end());
  for (const BoundTerm& term : terms) {
    auto& members = domains_[term.domain].members;
    members.push_back({flow, static_cast<std::uint32_t>(bound.places.size())});
    bound.places.push_back(static_cast<std::uint32_t>(members.size() - 1));
  }
}

void SpeedDomains::strike(Bound& bound) {
  for (std::size_t i = bound.terms.size(); i-- > 0;) {
    auto& members = domains_[bound.terms[i].domain].members;
    const Member last = members.back();
    members[bound.places[i]] = last;
    bounds_[last.flow].places[last.term] = bound.places[i];
    members.pop_back();
  }
  bound.terms.clear();
  bound.places.clear();
}

}}  // namespace c3::engine
