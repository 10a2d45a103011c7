#include "results/observer_fanout.hpp"

namespace c3 { inline namespace results {

void ObserverFanout::resource_added(ResourceId id, const ResourceInfo& info, double capacity) {
  for (auto* listener : listeners_)
    listener->resource_added(id, info, capacity);
}

void ObserverFanout::capacity_changed(ResourceId id, Seconds at, double capacity) {
  for (auto* listener : listeners_)
    listener->capacity_changed(id, at, capacity);
}

void ObserverFanout::activity_started(ActivityId id, const ActivityInfo& info, Seconds at) {
  for (auto* listener : listeners_)
    listener->activity_started(id, info, at);
}

void ObserverFanout::activity_finished(ActivityId id, Seconds at) {
  for (auto* listener : listeners_)
    listener->activity_finished(id, at);
}

void ObserverFanout::depends(ActivityId successor, ActivityId predecessor, DependencyKind kind) {
  for (auto* listener : listeners_)
    listener->depends(successor, predecessor, kind);
}

void ObserverFanout::rate_changed(ActivityId activity, Seconds at, double rate) {
  for (auto* listener : listeners_)
    listener->rate_changed(activity, at, rate);
}

void ObserverFanout::takes(ActivityId activity, ResourceId resource, double amount) {
  for (auto* listener : listeners_)
    listener->takes(activity, resource, amount);
}

void ObserverFanout::utilisation(ResourceId id, Seconds at, double used) {
  for (auto* listener : listeners_)
    listener->utilisation(id, at, used);
}

}}  // namespace c3::results
