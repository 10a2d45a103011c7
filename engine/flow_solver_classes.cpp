// FlowSolver with several priority classes in flight: whole connected components are filled, class by class.

#include <algorithm>

#include "engine/flow_solver.hpp"

namespace c3 { inline namespace engine {

void FlowSolver::collect_components() {
  for (const Index index : changed_flows_) {
    if (flows_[index].alive) join(index);
  }
  for (const ResourceId touched : touched_) {
    for (const filling::User& user : resources_[touched].users)
      join(user.flow);
  }
  std::size_t visited = 0;
  while (visited < neighbours_.size()) {  // join() finds more on the way
    for (const filling::User& user : resources_[neighbours_[visited++]].users)
      join(user.flow);
  }
}

void FlowSolver::select_class(PriorityClass priority) {
  class_flows_.clear();
  for (const Index index : working_) {
    flows_[index].fixed = flows_[index].priority != priority;
    if (!flows_[index].fixed) class_flows_.push_back(index);
  }
}

void FlowSolver::fill_by_class() {
  const bool promised = promise_floors();
  for (std::size_t i = 0; i < neighbours_.size(); ++i) {
    filling::Resource& resource = resources_[neighbours_[i]];
    resource.residual = resource.capacity;
    for (std::size_t c = 0; c < kPriorityClasses; ++c)
      resource.residual -= promised_[i * kPriorityClasses + c];
  }
  for (PriorityClass priority = 0; priority < kPriorityClasses; ++priority) {
    select_class(priority);
    if (class_flows_.empty()) continue;
    for (std::size_t i = 0; i < neighbours_.size(); ++i) {
      filling::Resource& resource = resources_[neighbours_[i]];
      resource.residual += promised_[i * kPriorityClasses + priority];
      drop_rounding(resource);
    }
    filler_.fill(class_flows_, neighbours_);
  }
  if (promised) serve_unused_promises();
}

// A class that was served more at one resource may use less than its promise at another.
void FlowSolver::serve_unused_promises() {
  for (PriorityClass priority = 0; priority < kPriorityClasses; ++priority) {
    for (const ResourceId neighbour : neighbours_)
      drop_rounding(resources_[neighbour]);
    select_class(priority);
    std::erase_if(class_flows_, [this](Index index) {
      filling::Flow& flow = flows_[index];
      flow.granted = flow.next_rate;
      flow.fixed = !can_rise(flow);
      return flow.fixed;
    });
    filler_.fill(class_flows_, neighbours_);
  }
}

bool FlowSolver::can_rise(const filling::Flow& flow) const {
  const auto has_room = [this](const filling::Membership& m) { return resources_[m.resource].residual > 0.0; };
  return flow.next_rate < flow.bound && std::ranges::all_of(flow.limits(), has_room);
}

// Fills each class alone, on its guaranteed part of every capacity.
bool FlowSolver::promise_floors() {
  bool any = false;
  promised_.assign(neighbours_.size() * kPriorityClasses, 0.0);
  for (PriorityClass priority = 0; priority < kPriorityClasses; ++priority) {
    if (floor_[priority] == 0.0) continue;
    select_class(priority);
    any = any || !class_flows_.empty();
    for (const ResourceId neighbour : neighbours_) {
      resources_[neighbour].residual = floor_[priority] * resources_[neighbour].capacity;
    }
    filler_.fill(class_flows_, neighbours_);
    for (std::size_t i = 0; i < neighbours_.size(); ++i) {
      const filling::Resource& resource = resources_[neighbours_[i]];
      promised_[i * kPriorityClasses + priority] = floor_[priority] * resource.capacity - resource.residual;
    }
  }
  return any;
}

}}  // namespace c3::engine
