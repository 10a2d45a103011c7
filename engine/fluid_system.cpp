#include "engine/fluid_system.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

namespace c3 { inline namespace engine {
namespace {

// Completions this close together (relative to the date) are one event: symmetric flows whose dates differ by
// rounding.
constexpr double kSameDate = 1e-14;

// Loads and the capacities that follow them are solved in turn until they agree to this, or this often. Tighter
// costs time (1e-8: the main job takes twice as long) and gains nothing: the rates behind a rule are known to a
// per cent.
constexpr double kSettled = 1e-3;
constexpr int kSettlingRounds = 8;

constexpr std::uint32_t kNobody = std::numeric_limits<std::uint32_t>::max();

void check_laws(std::span<const BoundTerm> laws, std::size_t domains) {
  for (const BoundTerm& term : laws) {
    if (term.domain >= domains)
      throw std::invalid_argument("FluidSystem: no domain " + std::to_string(term.domain));
  }
}

void check(const FlowSpec& spec, std::size_t resources) {
  const auto fail = [](const std::string& what) { throw std::invalid_argument("FluidSystem::start: " + what); };
  if (!(spec.bound > 0.0)) fail("bound must be > 0");
  if (!(spec.weight > 0.0) || std::isinf(spec.weight)) fail("weight must be > 0 and finite");
  if (spec.priority >= kPriorityClasses) fail("priority class out of range");
  if (spec.demands.empty() && std::isinf(spec.bound)) fail("a flow without demands needs a finite bound");
  for (const Demand& demand : spec.demands) {
    if (demand.resource >= resources) fail("no resource " + std::to_string(demand.resource));
    if (!(demand.amount > 0.0) || std::isinf(demand.amount)) fail("demands must be > 0 and finite");
  }
}

}  // namespace

ResourceId FluidSystem::add_resource(const ResourceInfo& info, double capacity) {
  if (!(capacity >= 0.0)) throw std::invalid_argument("FluidSystem::add_resource: capacity must be >= 0");
  const ResourceId id = solver_.add_resource(capacity);
  if (observer_ != nullptr) {
    reported_load_.push_back(0.0);
    observer_->resource_added(id, info, capacity);
  }
  return id;
}

void FluidSystem::set_capacity(ResourceId resource, double capacity) {
  if (!(capacity >= 0.0)) throw std::invalid_argument("FluidSystem::set_capacity: capacity must be >= 0");
  solver_.set_capacity(resource, capacity);
  if (observer_ != nullptr) observer_->capacity_changed(resource, now(), capacity);
}

void FluidSystem::set_capacity_rule(ResourceId resource, CapacityRule& rule) {
  rule_of_.resize(solver_.resource_count(), kNobody);
  rule_of_[resource] = static_cast<std::uint32_t>(rules_.size());
  rules_.push_back({resource, &rule, 0.0, 0.0, 0});
}

void FluidSystem::set_listener(ResourceId resource, LoadListener& listener) {
  listener_of_.resize(solver_.resource_count(), kNobody);
  const auto known = std::ranges::find(listeners_, &listener, &Listening::listener);
  listener_of_[resource] = static_cast<std::uint32_t>(known - listeners_.begin());
  if (known == listeners_.end()) listeners_.push_back({&listener});
}

void FluidSystem::report_use(ResourceId resource, double used) {
  if (observer_ == nullptr || reported_load_[resource] == used) return;
  reported_load_[resource] = used;
  observer_->utilisation(resource, now(), used);
}

FluidSystem::Slot& FluidSystem::occupy(FlowSolver::Index index, const FlowSpec& spec, Completion* target,
                                       std::uint64_t tag) {
  if (index >= slots_.size()) slots_.resize(index + 1);
  Slot& slot = slots_[index];
  slot = {
      .target = target, .tag = tag, .generation = slot.generation, .alive = true, .activity = spec.activity};
  slot.has_laws = !spec.laws.empty();
  return slot;
}

FlowSolver::Index FluidSystem::add_flow(const FlowSpec& spec) {
  check_laws(spec.laws, domains_.size());
  FlowSpec now = spec;
  now.bound = std::min(spec.bound, domains_.bound(spec.laws));
  check(now, solver_.resource_count());
  const FlowSolver::Index index = solver_.add_flow(now);
  if (!spec.laws.empty()) domains_.bind(index, spec.bound, spec.laws);
  return index;
}

FlowId FluidSystem::start(const FlowSpec& spec, Completion* target, std::uint64_t tag) {
  const FlowSolver::Index index = add_flow(spec);
  Slot& slot = occupy(index, spec, target, tag);
  slot.remaining = 1.0;
  slot.since = now_;
  slot.running = true;
  ++in_flight_;
  report_takes(spec.activity != kNoActivity ? spec.activity : spec.account, index, 1.0);
  return {index, slot.generation};
}

void FluidSystem::report_takes(ActivityId activity, FlowSolver::Index flow, double part) {
  if (observer_ == nullptr || activity == kNoActivity) return;
  solver_.for_each_demand(
      flow, [&](const Demand& demand) { observer_->takes(activity, demand.resource, part * demand.amount); });
}

FlowId FluidSystem::prepare(const FlowSpec& spec, Completion* target, std::uint64_t tag) {
  const FlowSolver::Index index = add_flow(spec);
  solver_.pause(index);
  Slot& slot = occupy(index, spec, target, tag);
  slot.prepared = true;
  return {index, slot.generation};
}

void FluidSystem::repeat(FlowId flow, double part, ActivityId activity) {
  if (!is_named(flow) || slots_[flow.index].running || !(part > 0.0) || part > 1.0)
    throw std::logic_error("FluidSystem::repeat: needs a prepared flow that does not run, and a part of it");
  Slot& slot = slots_[flow.index];
  slot.remaining = part;
  slot.since = now_;
  slot.running = true;
  slot.activity = activity;
  ++in_flight_;
  report_takes(activity, flow.index, part);
  if (!solver_.resume(flow.index)) {
    slot.rate = 0.0;
    return;
  }
  if (slot.rate <= 0.0) return;  // prepared in this instant
  completions_.schedule(flow.index, now_ + slot.remaining / slot.rate);
  if (observer_ != nullptr && activity != kNoActivity) observer_->rate_changed(activity, now(), slot.rate);
}

void FluidSystem::discard(FlowId flow) {
  if (!is_named(flow)) return;
  Slot& slot = slots_[flow.index];
  slot.target = nullptr;
  slot.prepared = false;
  if (!slot.running) release(flow.index);
}

void FluidSystem::detach(FlowId flow) {
  if (in_flight(flow)) slots_[flow.index].target = nullptr;
}

bool FluidSystem::is_named(FlowId flow) const {
  return flow.index < slots_.size() && slots_[flow.index].alive &&
         slots_[flow.index].generation == flow.generation;
}

bool FluidSystem::in_flight(FlowId flow) const { return is_named(flow) && slots_[flow.index].running; }

double FluidSystem::rate(FlowId flow) const { return in_flight(flow) ? slots_[flow.index].rate : 0.0; }

double FluidSystem::remaining(FlowId flow) const {
  if (!in_flight(flow)) return 0.0;
  const Slot& slot = slots_[flow.index];
  return std::max(0.0, slot.remaining - slot.rate * (now_ - slot.since));
}

void FluidSystem::set_bound(FlowId flow, double bound, std::span<const BoundTerm> laws) {
  check_laws(laws, domains_.size());
  const double now = std::min(bound, domains_.bound(laws));
  if (!(now > 0.0)) throw std::invalid_argument("FluidSystem::set_bound: bound must be > 0");
  if (!is_named(flow)) return;
  Slot& slot = slots_[flow.index];
  if (slot.has_laws || !laws.empty()) domains_.bind(flow.index, bound, laws);
  slot.has_laws = !laws.empty();
  apply_bound(flow.index, now);
}

void FluidSystem::apply_bound(FlowSolver::Index flow, double bound) {
  if (solver_.bound(flow) != bound) solver_.set_bound(flow, bound);
}

void FluidSystem::set_weight(FlowId flow, double weight) {
  if (!(weight > 0.0) || std::isinf(weight))
    throw std::invalid_argument("FluidSystem::set_weight: weight must be > 0 and finite");
  if (is_named(flow) && solver_.weight(flow.index) != weight) solver_.set_weight(flow.index, weight);
}

void FluidSystem::set_priority(FlowId flow, PriorityClass priority) {
  if (priority >= kPriorityClasses) throw std::invalid_argument("FluidSystem::set_priority: no such class");
  if (is_named(flow)) solver_.set_priority(flow.index, priority);
}

void FluidSystem::set_timer(Seconds date, Completion& target, std::uint64_t tag) {
  if (date.value < now_) throw std::logic_error("FluidSystem::set_timer: date is in the past");
  timers_.push_back({date.value, timers_set_++, &target, tag});
  std::ranges::push_heap(timers_, Timer::later);
}

AlarmId FluidSystem::add_alarm(Completion& target, std::uint64_t tag) {
  alarm_targets_.push_back({&target, tag});
  return static_cast<AlarmId>(alarm_targets_.size() - 1);
}

double FluidSystem::next_date() {
  if (domains_.has_changed())
    domains_.apply([this](FlowSolver::Index flow, double bound) { apply_bound(flow, bound); });
  if (solver_.needs_solve()) {
    std::span<const FlowSolver::Index> changed = solve();
    for (int round = 0; round < kSettlingRounds && apply_rules(round); ++round) {
      remember(changed);
      changed = solve();
    }
    for (const FlowSolver::Index index : changed)
      settle_progress(index);
    settle_remembered();
    tell_listeners();
  }
  double date = kUnbounded;
  if (!completions_.empty()) date = std::max(now_, completions_.top_date());
  if (!timers_.empty()) date = std::min(date, timers_.front().date);
  if (!alarms_.empty() && date < kUnbounded) date = std::min(date, std::max(now_, alarms_.top_date()));
  return date;
}

// One step of the secant method on (capacity that goes with the loads) - (capacity they were solved for).
bool FluidSystem::apply(Rule& rule, int round) {
  const double tried = solver_.capacity(rule.resource);
  const double wanted = rule.rule->capacity(solver_);
  const double excess = wanted - tried;
  if (std::abs(excess) <= kSettled * wanted) return false;
  double next = wanted;
  if (round > 0 && excess != rule.excess) {
    const double secant = tried - excess * (tried - rule.tried) / (excess - rule.excess);
    if (secant > 0.5 * wanted && secant < 2.0 * wanted) next = secant;
  }
  rule.tried = tried;
  rule.excess = excess;
  set_capacity(rule.resource, next);
  return true;
}

bool FluidSystem::apply_rules(int round) {
  bool changed = false;
  ++rounds_;
  for (const ResourceId resource : solver_.loaded_resources()) {
    if (resource >= rule_of_.size() || rule_of_[resource] == kNobody) continue;
    Rule& rule = rules_[rule_of_[resource]];
    if (std::exchange(rule.asked, rounds_) == rounds_) continue;
    changed = apply(rule, round) || changed;
  }
  return changed;
}

std::span<const FlowSolver::Index> FluidSystem::solve() {
  const std::span<const FlowSolver::Index> changed = solver_.solve();
  if (!listeners_.empty()) collect_listeners();
  if (observer_ == nullptr) return changed;
  for (const FlowSolver::Index index : changed) {
    const ActivityId activity = slots_[index].activity;
    if (activity != kNoActivity) observer_->rate_changed(activity, now(), solver_.rate(index));
  }
  report_loads();
  return changed;
}

void FluidSystem::collect_listeners() {
  for (const ResourceId resource : solver_.loaded_resources()) {
    if (resource >= listener_of_.size() || listener_of_[resource] == kNobody) continue;
    const std::uint32_t index = listener_of_[resource];
    if (!std::exchange(listeners_[index].hears, true)) hearing_.push_back(index);
  }
}

void FluidSystem::tell_listeners() {
  for (const std::uint32_t index : hearing_) {
    listeners_[index].hears = false;
    listeners_[index].listener->on_load(solver_);
  }
  hearing_.clear();
}

// Dates follow from the last rates of an instant: flows wait for them.
void FluidSystem::remember(std::span<const FlowSolver::Index> changed) {
  for (const FlowSolver::Index index : changed) {
    if (!std::exchange(slots_[index].unsettled, true)) unsettled_.push_back(index);
  }
}

void FluidSystem::settle_remembered() {
  for (const FlowSolver::Index index : unsettled_) {
    if (slots_[index].unsettled) settle_progress(index);
  }
  unsettled_.clear();
}

void FluidSystem::settle_progress(FlowSolver::Index index) {
  Slot& slot = slots_[index];
  slot.unsettled = false;
  slot.remaining -= slot.rate * (now_ - slot.since);
  slot.since = now_;
  slot.rate = solver_.rate(index);
  if (slot.rate > 0.0) {
    completions_.schedule(index, now_ + std::max(0.0, slot.remaining) / slot.rate);
  } else {
    completions_.withdraw(index);
  }
}

void FluidSystem::report_loads() {
  for (const ResourceId resource : solver_.loaded_resources()) {
    const double load = solver_.load(resource);
    if (load == reported_load_[resource]) continue;
    reported_load_[resource] = load;
    observer_->utilisation(resource, now(), load);
  }
}

bool FluidSystem::is_due(double date) const { return date <= now_ * (1.0 + kSameDate); }

void FluidSystem::advance_to(double date) {
  if (date < now_) throw std::logic_error("FluidSystem::advance_to: date is in the past");
  now_ = date;
  due_.clear();
  while (!completions_.empty() && is_due(completions_.top_date()))
    finish(completions_.top());
  while (!timers_.empty() && is_due(timers_.front().date)) {
    std::ranges::pop_heap(timers_, Timer::later);
    due_.push_back({timers_.back().target, timers_.back().tag});
    timers_.pop_back();
  }
  while (!alarms_.empty() && is_due(alarms_.top_date())) {
    due_.push_back(alarm_targets_[alarms_.top()]);
    alarms_.withdraw(alarms_.top());
  }
  for (const Due& due : due_)
    due.target->on_complete(due.tag);
}

void FluidSystem::finish(FlowSolver::Index index) {
  completions_.withdraw(index);
  Slot& slot = slots_[index];
  if (slot.target != nullptr) due_.push_back({slot.target, slot.tag});
  slot.running = false;
  --in_flight_;
  ++completed_;
  if (slot.prepared) {
    solver_.pause(index);
  } else {
    release(index);
  }
}

void FluidSystem::release(FlowSolver::Index index) {
  slots_[index].alive = false;
  ++slots_[index].generation;
  if (slots_[index].has_laws) domains_.release(index);
  solver_.remove_flow(index);
}

}}  // namespace c3::engine
