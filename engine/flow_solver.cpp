#include "engine/flow_solver.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace c3 {
namespace {

using filling::kNoResource;

// Relative slack of "full" and of "largest level". Far below the 1e-8 that rates must hold, far above the
// rounding of a sum over thousands of flows; too tight a value costs another round, never a wrong rate.
constexpr double kSlack = 1e-12;

// A rate that moves less than this keeps its old value, so that rounding does not re-key the event queue.
constexpr double kSameRate = 1e-13;

// What is left of a resource below this part of it is the rounding of a sum: nothing is left.
constexpr double kRounding = 1e-13;

// A load that shrinks to this part of a change has lost three of its digits.
constexpr double kCancelled = 1e-3;

// Changes of a load between two sums, beside one a user. A sum visits every user's record: rarely is cheaper.
constexpr std::uint32_t kLoadUpdates = 32;

}  // namespace

ResourceId FlowSolver::add_resource(double capacity) {
  resources_.emplace_back();
  resources_.back().capacity = capacity;
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
    if (std::isfinite(resources_[demand.resource].capacity)) enlist(index, demand);
  }
  flow.limiting = static_cast<std::uint32_t>(flow.memberships.size());
  for (const Demand& demand : spec.demands) {
    if (!std::isfinite(resources_[demand.resource].capacity)) enlist(index, demand);
  }
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
  set_rate(flow, 0.0);
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
  if (was_meter == !std::isfinite(capacity)) return;
  for (const filling::User user : resource.users) {
    filling::Flow& flow = flows_[user.flow];
    if (was_meter) {
      swap_memberships(flow, user.membership, flow.limiting++);
    } else {
      swap_memberships(flow, user.membership, --flow.limiting);
    }
  }
}

void FlowSolver::swap_memberships(filling::Flow& flow, std::uint32_t a, std::uint32_t b) {
  std::swap(flow.memberships[a], flow.memberships[b]);
  for (const std::uint32_t index : {a, b}) {
    const filling::Membership& m = flow.memberships[index];
    resources_[m.resource].users[m.position].membership = index;
  }
}

void FlowSolver::set_bound(Index flow, double bound) {
  flows_[flow].bound = bound;
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
  auto floors = floor_;
  floors[priority] = fraction;
  if (!(fraction >= 0.0) || std::reduce(floors.begin(), floors.end()) > 1.0) {
    throw std::invalid_argument("FlowSolver: floors must be >= 0 and sum to at most 1");
  }
  floor_ = floors;
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
    collect_components();
    fill_by_class();
  } else {
    collect_affected();
    do {
      fill_on_residuals();
    } while (add_violators());
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

void FlowSolver::join(Index index) {
  filling::Flow& flow = flows_[index];
  if (flow.working || flow.paused) return;
  flow.working = true;
  flow.fixed = false;
  flow.granted = 0.0;
  working_.push_back(index);
  for (const filling::Membership& m : flow.limits()) {
    filling::Resource& resource = resources_[m.resource];
    if (resource.neighbour) continue;
    resource.neighbour = true;
    resource.residual = resource.capacity - resource.load;
    neighbours_.push_back(m.resource);
  }
}

bool FlowSolver::is_mixed() const {
  return std::ranges::count_if(in_class_, [](std::uint32_t flows) { return flows > 0; }) > 1;
}

void FlowSolver::collect_affected() {
  for (const Index index : changed_flows_) {
    if (flows_[index].alive) join(index);
  }
  for (const ResourceId touched : touched_) {
    const filling::Resource& resource = resources_[touched];
    const bool over = resource.load > resource.capacity * (1.0 + kSlack);
    if (!over && resource.limits == 0) continue;
    for (const filling::User& user : resource.users) {
      if (over || flows_[user.flow].bottleneck == touched) join(user.flow);
    }
  }
}

void FlowSolver::fill_on_residuals() {
  for (const ResourceId neighbour : neighbours_) {
    filling::Resource& resource = resources_[neighbour];
    resource.residual = resource.capacity - resource.load;
  }
  for (const Index index : working_) {
    filling::Flow& flow = flows_[index];
    flow.fixed = false;
    if (flow.rate == 0.0) continue;
    for (const filling::Membership& m : flow.limits())
      resources_[m.resource].residual += m.amount * flow.rate;
  }
  for (const ResourceId neighbour : neighbours_)
    drop_rounding(resources_[neighbour]);
  filler_.fill(working_, neighbours_);
}

void FlowSolver::drop_rounding(filling::Resource& resource) {
  const double rounding = kRounding * std::max(resource.capacity, resource.load);
  if (resource.capacity == 0.0 || resource.residual < rounding) resource.residual = 0.0;
}

bool FlowSolver::add_violators() {
  ++round_;
  const std::size_t filled_flows = working_.size();
  const std::size_t filled_resources = neighbours_.size();
  for (std::size_t i = 0; i < filled_flows; ++i)
    check_filled_flow(working_[i]);
  for (std::size_t i = 0; i < filled_resources; ++i)
    check_owners(neighbours_[i]);
  return working_.size() > filled_flows;
}

// A flow stopped by a resource where a flow outside the filling has a higher level got less than its share.
// Whoever has more on any of the resources that stop it joins: taken one resource a round, a flow over many
// GPUs would cost as many rounds.
void FlowSolver::check_filled_flow(Index index) {
  const filling::Flow& flow = flows_[index];
  const std::uint32_t bottleneck = flow.next_bottleneck;
  if (bottleneck == kNoResource) return;
  const double allowed = flow.next_level * (1.0 + kSlack);
  if (highest_level(bottleneck) <= allowed || finds_full_resource(index)) return;
  for (const filling::Membership& m : flow.limits()) {
    if (!is_full(m.resource)) continue;
    for (const filling::User& user : resources_[m.resource].users) {
      const filling::Flow& other = flows_[user.flow];
      if (!other.working && other.level > allowed) join(user.flow);
    }
  }
}

// A flow outside the filling whose bottleneck is no longer full, or where another now has more, may rise.
void FlowSolver::check_owners(ResourceId resource) {
  if (resources_[resource].limits == 0) return;
  const double highest = highest_level(resource);
  const bool full = is_full(resource);
  for (const filling::User& user : resources_[resource].users) {
    const filling::Flow& flow = flows_[user.flow];
    if (flow.working || flow.bottleneck != resource) continue;
    if (full && highest <= flow.level * (1.0 + kSlack)) continue;
    if (!finds_full_resource(user.flow)) join(user.flow);
  }
}

bool FlowSolver::finds_full_resource(Index index) {
  filling::Flow& flow = flows_[index];
  const double allowed = level_now(flow) * (1.0 + kSlack);
  for (const filling::Membership& m : flow.limits()) {
    if (!is_full(m.resource) || highest_level(m.resource) > allowed) continue;
    if (flow.fixed) {
      flow.next_bottleneck = m.resource;
    } else {
      set_bottleneck(flow, m.resource);
    }
    return true;
  }
  return false;
}

bool FlowSolver::is_full(ResourceId index) const {
  const filling::Resource& resource = resources_[index];
  const double left = resource.neighbour ? resource.residual : resource.capacity - resource.load;
  return left <= kSlack * resource.capacity;
}

double FlowSolver::highest_level(ResourceId index) {
  filling::Resource& resource = resources_[index];
  if (resource.highest_round != round_) {
    resource.highest_round = round_;
    resource.highest_level = 0.0;
    for (const filling::User& user : resource.users) {
      resource.highest_level = std::max(resource.highest_level, level_now(flows_[user.flow]));
    }
  }
  return resource.highest_level;
}

void FlowSolver::commit() {
  for (const Index index : working_) {
    filling::Flow& flow = flows_[index];
    flow.working = false;
    flow.fixed = false;
    flow.level = flow.next_level;
    set_bottleneck(flow, flow.next_bottleneck);
    const double change = flow.next_rate - flow.rate;
    if (std::abs(change) <= kSameRate * flow.rate) continue;
    set_rate(flow, flow.next_rate);
    for (const filling::Membership& m : flow.meters())
      touch(m.resource);
    rate_changed_.push_back(index);
  }
  for (const ResourceId neighbour : neighbours_) {
    resources_[neighbour].neighbour = false;
    resources_[neighbour].touched = false;
  }
  loaded_.assign(neighbours_.begin(), neighbours_.end());
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

void FlowSolver::set_rate(filling::Flow& flow, double rate) {
  const double change = rate - flow.rate;
  const bool starts = flow.rate == 0.0 && rate > 0.0;
  const bool stops = flow.rate > 0.0 && rate == 0.0;
  flow.rate = rate;  // first, because add_load() may sum rates afresh
  for (const filling::Membership& m : flow.memberships) {
    filling::Resource& resource = resources_[m.resource];
    if (starts) ++resource.loading;
    if (stops) --resource.loading;
    add_load(resource, m.amount * change);
  }
}

// By differences, and summed afresh when most of it cancels or after some more changes than there are users:
// exact to the rounding of a sum, at constant mean cost.
void FlowSolver::add_load(filling::Resource& resource, double amount) const {
  resource.load += amount;
  const bool recent = ++resource.load_updates < resource.users.size() + kLoadUpdates;
  if (recent && resource.capacity > 0.0 && resource.load > kCancelled * std::abs(amount)) return;
  resource.load_updates = 0;
  resource.load = 0.0;
  if (resource.loading == 0) return;
  for (const filling::User& user : resource.users)
    resource.load += user.amount * flows_[user.flow].rate;
}

}  // namespace c3
