#pragma once
/// One observer that tells several, in order.

#include <vector>

#include "engine/observer.hpp"

namespace c3 { inline namespace results {

class ObserverFanout : public Observer {
 public:
  /// \p listener outlives the run.
  void add(Observer& listener) { listeners_.push_back(&listener); }

  void resource_added(ResourceId id, const ResourceInfo& info, double capacity) override;
  void capacity_changed(ResourceId id, Seconds at, double capacity) override;
  void activity_started(ActivityId id, const ActivityInfo& info, Seconds at) override;
  void activity_finished(ActivityId id, Seconds at) override;
  void depends(ActivityId successor, ActivityId predecessor, DependencyKind kind) override;
  void rate_changed(ActivityId activity, Seconds at, double rate) override;
  void takes(ActivityId activity, ResourceId resource, double amount) override;
  void utilisation(ResourceId id, Seconds at, double used) override;

 private:
  std::vector<Observer*> listeners_;
};

}}  // namespace c3::results
