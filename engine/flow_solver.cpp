#include "engine/flow_solver.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace c3 { inline namespace engine {
namespace {

using filling::kNoResource;

// A load that shrinks to this part of a change has lost three of its digits.
constexpr double kCancelled = 1e-3;

// A sum visits every user's record: after so many changes of a load it is cheap beside them.
bool is_recent(const filling::Resource& resource) {
  constexpr std::size_t kUpdates = 32, kUpdatesOfUser = 4;
  return resource.load_updates < kUpdates + kUpdatesOfUser * resource.users.size();
}

}  // namespace

ResourceId FlowSolver::add_resource(double capacity) {
  resources_.emplace_back();
  resources_.back().capacity = capacity;
  resources_.back().active = std::isfinite(capacity);
  return static_cast<ResourceId>(resources_.size() - 1);
}

FlowSolver::Index FlowSolver::add_flow(const FlowSpec& spec) {
  if (free_flows_.empty()) {
    free_flows_.push_back(static_cast<Index>(flows_.size()));
    flows_.emplace_back();
  }
  const Index index = free_flows_.back();
  free_flows_.pop_back();

  filling::Flow& flow = flows_[index];
  flow.rate = 0.0;
  flow.level = 0.0;
  flow.bound = spec.bound;
  flow.weight = spec.weight;
  flow.priority = spec.priority;
  flow.bottleneck = kNoResource;
  flow.alive = true;
  flow.paused = false;
  flow.pausing = false;
  flow.memberships.clear();
  for (const Demand& demand : spec.demands) {
    if (resources_[demand.resource].active) enlist(index, demand);
  }
  flow.limiting = static_cast<std::uint32_t>(flow.memberships.size());
  for (const Demand& demand : spec.demands) {
    if (!resources_[demand.resource].active) enlist(index, demand);
  }
  if (!std::isfinite(spec.bound)) activate_all_of(flow);
  ++in_class_[spec.priority];
  mark_changed(index);
  return index;
}

void FlowSolver::enlist(Index index, const Demand& demand) {
  auto& memberships = flows_[index].memberships;
  auto& users = resources_[demand.resource].users;
  const auto membership = static_cast<std::uint32_t>(memberships.size());
  memberships.push_back({demand.resource, static_cast<std::uint32_t>(users.size()), demand.amount});
  users.push_back({index, membership, demand.amount});
}

void FlowSolver::remove_flow(Index index) {
  filling::Flow& flow = flows_[index];
  for (const filling::Membership& m : flow.memberships) {
    filling::Resource& resource = resources_[m.resource];
    const filling::User last = resource.users.back();
    resource.users[m.position] = last;
    flows_[last.flow].memberships[last.membership].position = m.position;
    resource.users.pop_back();
  }
  if (!flow.paused) take_off(flow);
  flow.alive = false;
  flow.pausing = false;
  free_flows_.push_back(index);
}

void FlowSolver::take_off(filling::Flow& flow) {
  const double rate = flow.rate;
  set_rate(flow, 0.0);
  for (const filling::Membership& m : flow.idle())
    add_load(resources_[m.resource], -m.amount * rate);
  flow.level = 0.0;
  for (const filling::Membership& m : flow.memberships)
    touch(m.resource);
  set_bottleneck(flow, kNoResource);
  --in_class_[flow.priority];
}

void FlowSolver::pause(Index index) {
  filling::Flow& flow = flows_[index];
  if (flow.paused || std::exchange(flow.pausing, true)) return;
  pausing_.push_back(index);
}

bool FlowSolver::resume(Index index) {
  filling::Flow& flow = flows_[index];
  if (std::exchange(flow.pausing, false)) return true;
  flow.paused = false;
  ++in_class_[flow.priority];
  mark_changed(index);
  return false;
}

void FlowSolver::pause_pausing() {
  for (const Index index : pausing_) {
    filling::Flow& flow = flows_[index];
    if (!std::exchange(flow.pausing, false)) continue;
    flow.paused = true;
    take_off(flow);
  }
  pausing_.clear();
}

void FlowSolver::set_capacity(ResourceId index, double capacity) {
  filling::Resource& resource = resources_[index];
  const bool was_meter = !std::isfinite(resource.capacity);
  resource.capacity = capacity;
  touch(index);
  if (!std::isfinite(capacity)) {
    set_idle(index);
  } else if (was_meter || is_over(resource, resource.load)) {
    set_active(index);
  }
}

void FlowSolver::set_bound(Index flow, double bound) {
  flows_[flow].bound = bound;
  if (!std::isfinite(bound)) activate_all_of(flows_[flow]);
  mark_changed(flow);
}

void FlowSolver::set_weight(Index flow, double weight) {
  flows_[flow].weight = weight;
  mark_changed(flow);
}

void FlowSolver::set_priority(Index flow, PriorityClass priority) {
  if (!flows_[flow].paused) {
    --in_class_[flows_[flow].priority];
    ++in_class_[priority];
  }
  flows_[flow].priority = priority;
  mark_changed(flow);
}

void FlowSolver::set_floor(PriorityClass priority, double fraction) {
  if (floor_[priority] == fraction) return;  // nothing to solve again, however many GPUs say so
  auto floors = floor_;
  floors[priority] = fraction;
  if (!(fraction >= 0.0) || std::reduce(floors.begin(), floors.end()) > 1.0) {
    throw std::invalid_argument("FlowSolver: floors must be >= 0 and sum to at most 1");
  }
  floor_ = floors;
  keep_all_active();
  for (ResourceId r = 0; r < resources_.size(); ++r)
    touch(r);
}

std::span<const FlowSolver::Index> FlowSolver::solve() {
  rate_changed_.clear();
  loaded_.clear();
  pause_pausing();
  if (!needs_solve()) return rate_changed_;
  working_.clear();
  neighbours_.clear();
  if (is_mixed() || was_mixed_) {
    keep_all_active();
    collect_components();
    fill_by_class();
    plan_loads();
  } else {
    collect_affected();
    do {
      repair();
      plan_loads();
    } while (activate_overfull());
  }
  was_mixed_ = is_mixed();
  commit();
  return rate_changed_;
}

void FlowSolver::touch(ResourceId resource) {
  if (resources_[resource].touched) return;
  resources_[resource].touched = true;
  touched_.push_back(resource);
}

void FlowSolver::mark_changed(Index index) {
  filling::Flow& flow = flows_[index];
  for (const filling::Membership& m : flow.limits())
    touch(m.resource);
  if (flow.changed) return;
  flow.changed = true;
  changed_flows_.push_back(index);
}

bool FlowSolver::is_mixed() const {
  return std::ranges::count_if(in_class_, [](std::uint32_t flows) { return flows > 0; }) > 1;
}

void FlowSolver::commit() {
  for (const Index index : working_) {
    filling::Flow& flow = flows_[index];
    flow.working = false;
    flow.fixed = false;
    flow.level = flow.next_level;
    set_bottleneck(flow, flow.next_bottleneck);
    if (!moves(flow)) continue;
    set_rate(flow, flow.next_rate);
    rate_changed_.push_back(index);
  }
  take_planned_loads();
  for (const ResourceId neighbour : neighbours_) {
    resources_[neighbour].neighbour = false;
    resources_[neighbour].touched = false;
    rest_if_quiet(neighbour);
  }
  loaded_.assign(neighbours_.begin(), neighbours_.end());
  loaded_.insert(loaded_.end(), planned_.begin(), planned_.end());
  for (const ResourceId touched : touched_) {
    if (std::exchange(resources_[touched].touched, false)) loaded_.push_back(touched);
  }
  for (const Index index : changed_flows_)
    flows_[index].changed = false;
  touched_.clear();
  changed_flows_.clear();
}

void FlowSolver::set_bottleneck(filling::Flow& flow, std::uint32_t resource) {
  if (flow.bottleneck == resource) return;
  if (flow.bottleneck != kNoResource) --resources_[flow.bottleneck].limits;
  if (resource != kNoResource) ++resources_[resource].limits;
  flow.bottleneck = resource;
}

void FlowSolver::take_planned_loads() {
  for (const ResourceId index : planned_) {
    filling::Resource& resource = resources_[index];
    resource.planned = false;
    resource.touched = false;
    const double before = std::exchange(resource.load, resource.next_load);
    resource.load_updates += static_cast<std::uint32_t>(std::min(rate_changed_.size(), resource.users.size()));
    if (!is_recent(resource) || resource.load <= kCancelled * before) sum_load(resource);
  }
}

void FlowSolver::set_rate(filling::Flow& flow, double rate) {
  const double change = rate - flow.rate;
  const int starts = (rate > 0.0 ? 1 : 0) - (flow.rate > 0.0 ? 1 : 0);  // -1: it stops
  const auto loading = static_cast<std::uint32_t>(starts);
  flow.rate = rate;  // first, because add_load() may sum rates afresh
  for (const filling::Membership& m : flow.limits()) {
    resources_[m.resource].loading += loading;
    add_load(resources_[m.resource], m.amount * change);
  }
  if (starts == 0) return;
  for (const filling::Membership& m : flow.idle())
    resources_[m.resource].loading += loading;
}

// By differences, and summed afresh when most of it cancels or after some more changes than there are users:
// exact to the rounding of a sum, at constant mean cost.
void FlowSolver::add_load(filling::Resource& resource, double amount) const {
  resource.load += amount;
  ++resource.load_updates;
  if (is_recent(resource) && resource.capacity > 0.0 && resource.load > kCancelled * std::abs(amount)) return;
  sum_load(resource);
}

void FlowSolver::sum_load(filling::Resource& resource) const {
  resource.load_updates = 0;
  resource.load = 0.0;
  if (resource.loading == 0) return;
  for (const filling::User& user : resource.users)
    resource.load += user.amount * flows_[user.flow].rate;
}

}}  // namespace c3::engine
