#pragma once
/// Speeds that flows share, and the bounds that follow from them.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/bound_law.hpp"
#include "engine/flow.hpp"

namespace c3 { inline namespace engine {

/// Holds the domains, and by flow the laws that tie its bound to them. A change of speed only marks its domain;
/// apply() then gives every flow that it reaches one new bound, however many speeds have changed, so that all
/// of them hear it in the same solve.
class SpeedDomains {
 public:
  using Flow = std::uint32_t;  ///< FlowSolver::Index

  /// \p speed > 0
  DomainId add(double speed);
  std::size_t size() const { return domains_.size(); }
  double speed(DomainId domain) const { return domains_[domain].speed; }
  void set_speed(DomainId domain, double speed);
  bool has_changed() const { return !changed_.empty(); }

  /// The largest rate [1/s] that \p terms allow at the speeds of now; kUnbounded where there are none.
  double bound(std::span<const BoundTerm> terms) const;
  /// \p flow is bounded by \p own and by \p terms from now on, in place of what bounded it before.
  void bind(Flow flow, double own, std::span<const BoundTerm> terms);
  void release(Flow flow) { bind(flow, kUnbounded, {}); }

  /// Calls \p set_bound with every flow that a change of speed since the last call reaches, and its bound.
  template <class SetBound>
  void apply(const SetBound& set_bound) {
    ++round_;
    for (const DomainId changed : changed_) {
      domains_[changed].changed = false;
      for (const Member& member : domains_[changed].members) {
        Bound& of_flow = bounds_[member.flow];
        if (of_flow.round == round_) continue;
        of_flow.round = round_;
        set_bound(member.flow, std::min(of_flow.own, bound(of_flow.terms)));
      }
    }
    changed_.clear();
  }

 private:
  struct Member {
    Flow flow;
    std::uint32_t term;  ///< in Bound::terms
  };
  struct Domain {
    double speed;
    bool changed = false;
    std::vector<Member> members = {};
  };
  struct Bound {
    double own = kUnbounded;
    std::uint64_t round = 0;  ///< of apply() that last asked for it
    std::vector<BoundTerm> terms;
    std::vector<std::uint32_t> places;  ///< by term, in the members of its domain
  };
  void enlist(Flow flow, std::span<const BoundTerm> terms);
  void strike(Bound& bound);

  std::vector<Domain> domains_;
  std::vector<Bound> bounds_;  ///< by flow; those without terms have none
  std::vector<DomainId> changed_;
  std::uint64_t round_ = 0;
};

}}  // namespace c3::engine
