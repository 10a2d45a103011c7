// Which resources FlowSolver's fillings look at: those that are active.

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/flow_solver.hpp"

namespace c3 { inline namespace engine {
namespace {

// A resource is far from full below this part of its capacity, and idle after so many solves there. What goes
// to and fro, such as a link between chunks, stays active: to change sides visits every user.
constexpr double kFarFromFull = 0.5;
constexpr std::uint8_t kQuietSolves = 8;

}  // namespace

void FlowSolver::set_active(ResourceId index) {
  filling::Resource& resource = resources_[index];
  if (std::exchange(resource.active, true)) return;
  resource.quiet = 0;
  for (const filling::User user : resource.users) {  // a copy: swaps renumber memberships
    filling::Flow& flow = flows_[user.flow];
    swap_memberships(flow, user.membership, flow.limiting++);
  }
}

void FlowSolver::set_idle(ResourceId index) {
  filling::Resource& resource = resources_[index];
  if (!std::exchange(resource.active, false)) return;
  for (const filling::User user : resource.users) {
    filling::Flow& flow = flows_[user.flow];
    swap_memberships(flow, user.membership, --flow.limiting);
  }
}

void FlowSolver::swap_memberships(filling::Flow& flow, std::uint32_t a, std::uint32_t b) {
  std::swap(flow.memberships[a], flow.memberships[b]);
  for (const std::uint32_t index : {a, b}) {
    const filling::Membership& m = flow.memberships[index];
    resources_[m.resource].users[m.position].membership = index;
  }
}

// A flow without a bound of its own must find its limit in every filling.
void FlowSolver::activate_all_of(filling::Flow& flow) {
  for (std::uint32_t i = flow.limiting; i < flow.memberships.size(); ++i) {
    const ResourceId resource = flow.memberships[i].resource;  // swapped with one that stays idle
    if (std::isfinite(resources_[resource].capacity)) set_active(resource);
  }
}

void FlowSolver::keep_all_active() {
  if (std::exchange(all_active_, true)) return;
  for (ResourceId r = 0; r < resources_.size(); ++r) {
    if (std::isfinite(resources_[r].capacity)) set_active(r);
  }
}

void FlowSolver::rest_if_quiet(ResourceId index) {
  filling::Resource& resource = resources_[index];
  if (all_active_ || resource.limits > 0 || resource.load >= kFarFromFull * resource.capacity) {
    resource.quiet = 0;
    return;
  }
  if (++resource.quiet < kQuietSolves) return;
  resource.quiet = 0;
  const auto unbounded = [this](const filling::User& user) { return !std::isfinite(flows_[user.flow].bound); };
  if (std::ranges::none_of(resource.users, unbounded)) set_idle(index);
}

// Loads that the rates to come give to idle resources.
void FlowSolver::plan_loads() {
  planned_.clear();
  for (const Index index : working_) {
    const filling::Flow& flow = flows_[index];
    if (!moves(flow)) continue;
    const double change = flow.next_rate - flow.rate;
    for (const filling::Membership& m : flow.idle()) {
      filling::Resource& resource = resources_[m.resource];
      if (!std::exchange(resource.planned, true)) {
        resource.next_load = resource.load;
        planned_.push_back(m.resource);
      }
      resource.next_load += m.amount * change;
    }
  }
}

// Who would be over its capacity takes part in the filling, which begins anew.
bool FlowSolver::activate_overfull() {
  bool any = false;
  for (const ResourceId index : planned_) {
    filling::Resource& resource = resources_[index];
    if (!is_over(resource, resource.next_load)) continue;
    set_active(index);
    add_neighbour(index);
    any = true;
  }
  if (!any) return false;
  for (const ResourceId index : planned_)
    resources_[index].planned = false;
  reset_residuals();
  return true;
}

}}  // namespace c3::engine
