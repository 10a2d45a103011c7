// FlowSolver with one priority class in flight: the local repair that restores its invariant.

#include <algorithm>

#include "engine/flow_solver.hpp"

namespace c3 { inline namespace engine {
namespace {

using filling::kNoResource;

// Relative slack of "full" and of "largest level". Far below the 1e-8 that rates must hold, far above the
// rounding of a sum over thousands of flows; too tight a value costs another round, never a wrong rate.
constexpr double kSlack = 1e-12;

// What is left of a resource below this part of it is the rounding of a sum: nothing is left.
constexpr double kRounding = 1e-13;

}  // namespace

void FlowSolver::join(Index index) {
  filling::Flow& flow = flows_[index];
  if (flow.working || flow.paused) return;
  flow.working = true;
  flow.fixed = false;
  flow.granted = 0.0;
  working_.push_back(index);
  for (const filling::Membership& m : flow.limits()) {
    filling::Resource& resource = resources_[m.resource];
    if (!resource.neighbour) add_neighbour(m.resource);
    resource.residual += m.amount * flow.rate;
  }
  if (flow.bottleneck != kNoResource) ++resources_[flow.bottleneck].resolved;
}

void FlowSolver::add_neighbour(ResourceId index) {
  filling::Resource& resource = resources_[index];
  resource.neighbour = true;
  resource.resolved = 0;
  resource.residual = resource.capacity - resource.load;
  neighbours_.push_back(index);
}

void FlowSolver::collect_affected() {
  for (const Index index : changed_flows_) {
    if (flows_[index].alive) join(index);
  }
  for (const ResourceId touched : touched_) {
    const filling::Resource& resource = resources_[touched];
    const bool over = is_over(resource, resource.load);
    if (!over && resource.limits == 0) continue;
    for (const filling::User& user : resource.users) {
      if (over || flows_[user.flow].bottleneck == touched) join(user.flow);
    }
  }
}

bool FlowSolver::is_over(const filling::Resource& resource, double load) {
  return load > resource.capacity * (1.0 + kSlack);
}

// The first filling starts from the residuals that join() has summed on its way.
void FlowSolver::repair() {
  fill_on_residuals();
  while (add_violators()) {
    reset_residuals();
    fill_on_residuals();
  }
}

void FlowSolver::reset_residuals() {
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
}

void FlowSolver::fill_on_residuals() {
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
  if (std::ranges::any_of(filler_.stops(), is_unfair)) {
    for (std::size_t i = 0; i < filled_flows; ++i)
      check_filled_flow(working_[i]);
  }
  for (std::size_t i = 0; i < filled_resources; ++i)
    check_owners(neighbours_[i]);
  return working_.size() > filled_flows;
}

// Flows that it stopped got less than their share where a flow outside the filling has a higher level.
bool FlowSolver::is_unfair(const filling::Stop& stop) {
  return stop.highest_of_others > stop.level * (1.0 + kSlack);
}

// Whoever has more on any of the resources that stop the flow joins: taken one resource a round, a flow over
// many GPUs would cost as many rounds.
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
  if (resources_[resource].limits == resources_[resource].resolved) return;
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

}}  // namespace c3::engine
