#pragma once
/// Weighted max-min rates of a changing set of flows, re-solved only where a change reaches.

#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/filling.hpp"
#include "engine/flow.hpp"

namespace c3 { inline namespace engine {

/// Holds resources and flows, and gives every flow its max-min rate (see FlowSpec) on `solve()`.
///
/// Invariant after solve(): no resource is over capacity, and every flow runs at its own bound or owns a full
/// resource on which its level (rate / weight) is the largest. That characterises the max-min allocation, so a
/// local repair that restores it is exact: changed flows, and flows limited by a touched resource, are filled
/// on what the others leave; whoever then lacks such a resource joins, and the filling repeats.
///
/// Most resources are never full. One that has long been far from full is idle: fillings pass it by, and only
/// the loads that they would give it are compared with its capacity (as in active-set methods). Were it over,
/// it becomes active and the repair goes on. A meter is idle always.
///
/// Priority classes are served in order: class 0 first, then 1 on what is left, and so on. A class with a floor
/// f is first promised what it can use of f times each capacity; what it then leaves of a promise is offered to
/// all classes in order. With more than one class in flight, whole connected components are re-solved.
class FlowSolver {
 public:
  using Index = std::uint32_t;

  FlowSolver() = default;
  FlowSolver(const FlowSolver&) = delete;
  FlowSolver& operator=(const FlowSolver&) = delete;

  ResourceId add_resource(double capacity);
  /// \p spec must be valid (see FlowSpec). \returns the flow's index, which is reused after remove().
  Index add_flow(const FlowSpec& spec);
  void remove_flow(Index flow);
  /// From the next solve() on \p flow takes nothing. Its place at its resources is kept, which makes
  /// resume() cheaper than a new flow. Does nothing when it is paused.
  void pause(Index flow);
  /// \returns whether \p flow goes on at its old rate, because nothing was solved since pause(). Needs a paused
  /// flow.
  bool resume(Index flow);

  void set_capacity(ResourceId resource, double capacity);  ///< >= 0; infinity makes it a meter
  void set_bound(Index flow, double bound);
  void set_weight(Index flow, double weight);
  void set_priority(Index flow, PriorityClass priority);
  /// Guarantees \p fraction of every capacity to flows of \p priority; all floors together at most 1.
  void set_floor(PriorityClass priority, double fraction);

  bool needs_solve() const { return !touched_.empty() || !changed_flows_.empty() || !pausing_.empty(); }
  /// \returns the flows whose rate changed; valid until the next call. Rates of others are bit-identical.
  std::span<const Index> solve();
  /// Resources whose load may have changed in the last solve().
  std::span<const ResourceId> loaded_resources() const { return loaded_; }

  /// Calls \p visit with each Demand of \p flow.
  template <class Visit>
  void for_each_demand(Index flow, const Visit& visit) const {
    for (const filling::Membership& member : flows_[flow].memberships)
      visit(Demand{member.resource, member.amount});
  }
  double rate(Index flow) const { return flows_[flow].rate; }
  double bound(Index flow) const { return flows_[flow].bound; }
  double weight(Index flow) const { return flows_[flow].weight; }
  double load(ResourceId resource) const { return resources_[resource].load; }
  double capacity(ResourceId resource) const { return resources_[resource].capacity; }
  std::size_t resource_count() const { return resources_.size(); }

 private:
  void touch(ResourceId resource);
  void mark_changed(Index flow);
  void join(Index flow);
  void enlist(Index flow, const Demand& demand);
  void take_off(filling::Flow& flow);
  void pause_pausing();
  bool is_mixed() const;

  // Local repair, one priority class:
  void collect_affected();
  void add_neighbour(ResourceId resource);
  void repair();
  void reset_residuals();
  void fill_on_residuals();
  static void drop_rounding(filling::Resource& resource);
  static bool is_over(const filling::Resource& resource, double load);
  bool add_violators();
  static bool is_unfair(const filling::Stop& stop);
  void check_filled_flow(Index flow);
  void check_owners(ResourceId resource);
  bool finds_full_resource(Index flow);
  bool is_full(ResourceId resource) const;
  double highest_level(ResourceId resource);
  double level_now(const filling::Flow& flow) const { return flow.fixed ? flow.next_level : flow.level; }

  // Several priority classes:
  void collect_components();
  void fill_by_class();
  bool promise_floors();
  void serve_unused_promises();
  bool can_rise(const filling::Flow& flow) const;
  void select_class(PriorityClass priority);

  /// Whether the rate to come is another, but for rounding: else the old one stays, and with it its date in the
  /// event queue.
  static bool moves(const filling::Flow& flow) {
    constexpr double kSameRate = 1e-13;
    return std::abs(flow.next_rate - flow.rate) > kSameRate * flow.rate;
  }
  void commit();
  void set_bottleneck(filling::Flow& flow, std::uint32_t resource);

  // Loads, and who is active:
  void set_active(ResourceId resource);
  void set_idle(ResourceId resource);
  void swap_memberships(filling::Flow& flow, std::uint32_t a, std::uint32_t b);
  void activate_all_of(filling::Flow& flow);
  void keep_all_active();
  void rest_if_quiet(ResourceId resource);
  void plan_loads();
  bool activate_overfull();
  void take_planned_loads();
  void set_rate(filling::Flow& flow, double rate);  ///< and the loads of active resources
  void add_load(filling::Resource& resource, double amount) const;
  void sum_load(filling::Resource& resource) const;

  std::vector<filling::Resource> resources_;
  std::vector<filling::Flow> flows_;
  std::vector<Index> free_flows_;
  filling::Filler filler_{resources_, flows_};

  std::array<std::uint32_t, kPriorityClasses> in_class_{};
  std::array<double, kPriorityClasses> floor_{};
  bool was_mixed_ = false;   ///< several classes were in flight at the last solve
  bool all_active_ = false;  ///< for good: there have been floors or several classes

  // Changes since the last solve:
  std::vector<ResourceId> touched_;
  std::vector<Index> changed_flows_;
  std::vector<Index> pausing_;  ///< some of which may go on already

  // Of the current solve:
  std::vector<Index> working_;          ///< flows being re-solved
  std::vector<ResourceId> neighbours_;  ///< active resources they use
  std::vector<ResourceId> planned_;     ///< idle resources whose load changes
  std::uint64_t round_ = 0;
  std::vector<Index> class_flows_;
  std::vector<double> promised_;  ///< load of guaranteed shares, shape [neighbours][kPriorityClasses]
  std::vector<Index> rate_changed_;
  std::vector<ResourceId> loaded_;
};

}}  // namespace c3::engine
