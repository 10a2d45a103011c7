#pragma once
/// Power of a board as an observer hears it.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "engine/observer.hpp"

namespace c3::test {

/// A step function of time.
class PowerCurve {
 public:
  void add(double at, double watts) { changes_.push_back({at, watts}); }

  double watts() const { return changes_.back().watts; }
  double watts_before_last() const { return changes_.at(changes_.size() - 2).watts; }
  double until() const { return changes_.back().at; }
  /// Number of changes by more than \p least W.
  std::size_t changes_above(double least) const {
    std::size_t count = 0;
    for (std::size_t i = 1; i < changes_.size(); ++i)
      count += std::abs(changes_[i].watts - changes_[i - 1].watts) > least ? 1 : 0;
    return count;
  }
  double joules() const {
    double sum = 0;
    for (std::size_t i = 1; i < changes_.size(); ++i)
      sum += changes_[i - 1].watts * (changes_[i].at - changes_[i - 1].at);
    return sum;
  }
  /// The mean over \p averaging from \p mean on, by steps of \p step, at the last change.
  double mean(Seconds averaging, double mean, double step) const {
    integrate(averaging, mean, step);
    return mean;
  }
  /// Its highest on the way, from the first power on.
  double highest_mean(Seconds averaging, double step = 1e-5) const {
    double mean = changes_.front().watts;
    return integrate(averaging, mean, step);
  }

 private:
  struct Change {
    double at = 0, watts = 0;
  };

  /// Small steps, each of which ends at a change at the latest. \returns the highest mean
  double integrate(Seconds averaging, double& mean, double step) const {
    double highest = mean;
    for (std::size_t i = 1; i < changes_.size(); ++i) {
      const double length = changes_[i].at - changes_[i - 1].at;
      const double steps = std::ceil(length / step);
      for (double k = 0; k < steps; ++k) {
        // Exact to the second order of the step.
        const double x = length / steps / averaging.value;
        mean += x * (changes_[i - 1].watts - mean) * (1.0 - 0.5 * x);
        highest = std::max(highest, mean);
      }
    }
    return highest;
  }

  std::vector<Change> changes_;
};

class RecordedPower final : public Observer {
 public:
  void resource_added(ResourceId id, const ResourceInfo& info, double) override {
    if (info.unit == "W") power_ = id;
  }
  void capacity_changed(ResourceId, Seconds, double) override {}
  void activity_started(ActivityId, const ActivityInfo&, Seconds) override {}
  void activity_finished(ActivityId, Seconds) override {}
  void depends(ActivityId, ActivityId, DependencyKind) override {}
  void rate_changed(ActivityId, Seconds, double) override {}
  void utilisation(ResourceId id, Seconds at, double used) override {
    if (id == power_) curve.add(at.value, used);
  }

  PowerCurve curve;

 private:
  ResourceId power_ = std::numeric_limits<ResourceId>::max();
};

}  // namespace c3::test
