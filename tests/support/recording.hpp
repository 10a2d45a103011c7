#pragma once
/// An observer that remembers a run: activities, their dependencies, and what passed through every resource.

#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/observer.hpp"

namespace c3::test {

class Recording final : public Observer {
 public:
  struct Activity {
    ActivityId id;
    std::string name;
    ActivityKind kind;
    int gpu, stream;
    ActivityId parent;
    Bytes bytes;
    Seconds start;
    Seconds end{-1.0};
  };
  struct Dependency {
    ActivityId successor, predecessor;
    DependencyKind kind;
  };

  void resource_added(ResourceId id, const ResourceInfo& info, double) override {
    if (id != resources_.size()) throw std::logic_error("resources are not numbered in order");
    if (!by_name_.emplace(info.name, id).second) throw std::logic_error("resource name is not unique");
    resources_.emplace_back();
  }
  void capacity_changed(ResourceId, Seconds, double) override {}
  void activity_started(ActivityId id, const ActivityInfo& info, Seconds at) override {
    if (id != activities.size() + 1) throw std::logic_error("activities are not numbered in order");
    activities.push_back(
        {id, std::string(info.name), info.kind, info.gpu, info.stream, info.parent, info.bytes, at});
  }
  void activity_finished(ActivityId id, Seconds at) override { activities.at(id - 1).end = at; }
  void depends(ActivityId successor, ActivityId predecessor, DependencyKind kind) override {
    dependencies.push_back({successor, predecessor, kind});
  }
  void rate_changed(ActivityId, Seconds, double) override {}
  void utilisation(ResourceId id, Seconds at, double used) override {
    Use& use = resources_.at(id);
    use.total += use.level * (at - use.since).value;
    use.level = used;
    use.since = at;
  }

  /// Integral of the use of a resource: bytes of a bandwidth, CU-seconds of CUs. Its use must have ended.
  double total(const std::string& resource) const {
    const Use& use = resources_.at(by_name_.at(resource));
    if (use.level != 0.0) throw std::logic_error(resource + " is still in use");
    return use.total;
  }
  bool has_resource(const std::string& resource) const { return by_name_.contains(resource); }

  std::vector<const Activity*> of_kind(ActivityKind kind) const {
    std::vector<const Activity*> found;
    for (const Activity& activity : activities) {
      if (activity.kind == kind) found.push_back(&activity);
    }
    return found;
  }
  const Activity& activity(ActivityId id) const { return activities.at(id - 1); }

  std::vector<Activity> activities;  ///< by number, from 1
  std::vector<Dependency> dependencies;

 private:
  struct Use {
    double total = 0.0, level = 0.0;
    Seconds since;
  };
  std::vector<Use> resources_;
  std::map<std::string, ResourceId, std::less<>> by_name_;
};

}  // namespace c3::test
