#pragma once
/// Flows in time: progress, completions, timers, and capacities that follow the load. Knows no clock but its
/// own.

#include <cstdint>
#include <span>
#include <vector>

#include "engine/event_queue.hpp"
#include "engine/flow.hpp"
#include "engine/flow_solver.hpp"
#include "engine/speed_domains.hpp"

namespace c3 { inline namespace engine {

using AlarmId = std::uint32_t;

/// A capacity that depends on what is served, e.g. HBM on its read/write mix. Constant within a solve; asked
/// after each in which a flow that uses the resource may have changed its rate, and the rates are solved again
/// until both agree to 0.1 %, so that the result depends on what is in flight and hardly on when something else
/// happened.
class CapacityRule {
 public:
  virtual ~CapacityRule() = default;
  /// \returns the capacity that goes with the loads of the last solve.
  virtual double capacity(const FlowSolver& rates) = 0;
};

/// Hears the load of resources, e.g. to average a power.
class LoadListener {
 public:
  virtual ~LoadListener() = default;
  /// The rates of this instant are final, and a resource that it listens to may have another load. It may set
  /// alarms, and no flow, capacity or speed.
  virtual void on_load(const FlowSolver& rates) = 0;
};

/// Time starts at 0. Whoever drives it alternates next_date() and advance_to(); completions run inside
/// advance_to(), in order of date, then of flow number; timers of a date come after its flows, in order of
/// their setting, and alarms after its timers.
class FluidSystem {
 public:
  explicit FluidSystem(Observer* observer = nullptr) : observer_(observer) {}
  FluidSystem(const FluidSystem&) = delete;
  FluidSystem& operator=(const FluidSystem&) = delete;

  Seconds now() const { return {now_}; }

  /// \p capacity >= 0, in \p info.unit; infinity makes a meter that limits nothing.
  ResourceId add_resource(const ResourceInfo& info, double capacity);
  void set_capacity(ResourceId resource, double capacity);
  /// \p rule must outlive the run. One a resource.
  void set_capacity_rule(ResourceId resource, CapacityRule& rule);
  /// \p listener must outlive the run. One a resource; called once an instant, whatever it listens to.
  void set_listener(ResourceId resource, LoadListener& listener);
  /// Tells the observer that \p used of a resource is in use that no flow loads, e.g. CUs held by work groups.
  void report_use(ResourceId resource, double used);
  /// A speed that bounds of flows follow (FlowSpec::laws). > 0
  DomainId add_domain(double speed = 1.0) { return domains_.add(speed); }
  /// All flows of \p domain have their new bounds from the next solve on, which is in this instant; of several
  /// speeds set in one instant the last counts.
  void set_speed(DomainId domain, double speed) { domains_.set_speed(domain, speed); }
  double speed(DomainId domain) const { return domains_.speed(domain); }
  /// What \p laws allow at the speeds of now [1/s].
  double bound(std::span<const BoundTerm> laws) const { return domains_.bound(laws); }

  void set_floor(PriorityClass priority, double fraction) { solver_.set_floor(priority, fraction); }
  const FlowSolver& rates() const { return solver_; }

  /// Whether \p date is no later than now, but for rounding.
  bool has_come(Seconds date) const { return is_due(date.value); }

  /// Starts a flow now. \p target (may be null) hears \p tag when it ends.
  /// \throws std::invalid_argument when the spec is not valid (see FlowSpec).
  FlowId start(const FlowSpec& spec, Completion* target, std::uint64_t tag = 0);
  /// A flow that will run many times, e.g. chunk after chunk over one link. It does not run yet.
  FlowId prepare(const FlowSpec& spec, Completion* target, std::uint64_t tag = 0);
  /// Runs a prepared flow once: from now, over the last \p part of its progress, (0, 1]. Its target hears when
  /// it ends. Repeated in the instant of its end it keeps its rate, and nothing is solved.
  /// \throws std::logic_error while it runs.
  void repeat(FlowId flow, double part = 1.0, ActivityId activity = kNoActivity);
  /// Ends a prepared flow for good; a run that is in flight goes on, unheard. Does nothing when it is done.
  void discard(FlowId flow);
  /// Nobody will hear when \p flow ends; it goes on. Does nothing when it has ended.
  void detach(FlowId flow);
  bool in_flight(FlowId flow) const;
  double rate(FlowId flow) const;       ///< [1/s] since the last solve; 0 when it has ended
  double remaining(FlowId flow) const;  ///< 1 at start, 0 at the end
  /// Replaces the bound of \p flow, and its laws.
  void set_bound(FlowId flow, double bound, std::span<const BoundTerm> laws = {});
  void set_weight(FlowId flow, double weight);
  void set_priority(FlowId flow, PriorityClass priority);
  std::size_t flows_in_flight() const { return in_flight_; }
  std::uint64_t completed_flows() const { return completed_; }

  /// Tells \p target \p tag at \p date. \throws std::logic_error when \p date is before now.
  void set_timer(Seconds date, Completion& target, std::uint64_t tag = 0);

  /// A date that can be moved and withdrawn, at which \p target hears \p tag. It does not keep a run alive:
  /// while neither a flow nor a timer is due, no alarm is.
  AlarmId add_alarm(Completion& target, std::uint64_t tag = 0);
  void set_alarm(AlarmId alarm, Seconds date) { alarms_.schedule(alarm, date.value); }
  void withdraw_alarm(AlarmId alarm) { alarms_.withdraw(alarm); }

  /// \returns the date of the next completion, timer or alarm; infinity when there is none. Rates are solved
  /// first.
  double next_date();
  /// Moves to \p date (now <= date <= next_date()) and runs what is due.
  void advance_to(double date);

 private:
  struct Slot {
    double remaining = 0.0;  ///< at `since`
    double rate = 0.0;
    double since = 0.0;
    Completion* target = nullptr;
    std::uint64_t tag = 0;
    std::uint32_t generation = 0;
    bool alive = false;      ///< names a flow
    bool running = false;    ///< one that makes progress; a prepared flow may wait
    bool prepared = false;   ///< kept when it ends
    bool unsettled = false;  ///< the solver has another rate for it since
    bool has_laws = false;
    ActivityId activity = kNoActivity;
  };
  struct Timer {
    double date;
    std::uint64_t sequence;
    Completion* target;
    std::uint64_t tag;
    static bool later(const Timer& a, const Timer& b) {
      return a.date != b.date ? a.date > b.date : a.sequence > b.sequence;
    }
  };
  struct Rule {
    ResourceId resource;
    CapacityRule* rule;
    double tried, excess;  ///< of the round before
    std::uint64_t asked;   ///< in which of all rounds last
  };
  struct Listening {
    LoadListener* listener;
    bool hears = false;  ///< of this instant's loads
  };
  struct Due {
    Completion* target;
    std::uint64_t tag;
  };

  bool apply_rules(int round);
  bool apply(Rule& rule, int round);
  std::span<const FlowSolver::Index> solve();
  void collect_listeners();
  void tell_listeners();
  void remember(std::span<const FlowSolver::Index> changed);
  void settle_remembered();
  void settle_progress(FlowSolver::Index flow);
  FlowSolver::Index add_flow(const FlowSpec& spec);
  void apply_bound(FlowSolver::Index flow, double bound);
  Slot& occupy(FlowSolver::Index index, const FlowSpec& spec, Completion* target, std::uint64_t tag);
  bool is_named(FlowId flow) const;
  void report_takes(ActivityId activity, FlowSolver::Index flow, double part);
  void finish(FlowSolver::Index flow);
  void release(FlowSolver::Index flow);
  void report_loads();
  bool is_due(double date) const;

  FlowSolver solver_;
  SpeedDomains domains_;
  std::vector<Slot> slots_;
  std::vector<FlowSolver::Index> unsettled_;  ///< flows with that mark
  EventQueue completions_;
  std::vector<Timer> timers_;  ///< heap, earliest first
  std::uint64_t timers_set_ = 0;
  std::vector<Rule> rules_;
  std::vector<std::uint32_t> rule_of_;  ///< by resource: index in rules_, or kNobody
  std::uint64_t rounds_ = 0;            ///< of asking rules
  std::vector<Listening> listeners_;
  std::vector<std::uint32_t> listener_of_;  ///< by resource: index in listeners_, or kNobody
  std::vector<std::uint32_t> hearing_;      ///< indices of those that hear
  EventQueue alarms_;
  std::vector<Due> alarm_targets_;  ///< by AlarmId
  std::vector<Due> due_;
  double now_ = 0.0;
  std::size_t in_flight_ = 0;
  std::uint64_t completed_ = 0;
  Observer* observer_;
  std::vector<double> reported_load_;
};

}}  // namespace c3::engine
