#pragma once
/// What the legs of one flow take of each resource together.

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "engine/flow.hpp"

namespace c3 { inline namespace collectives {

/// Adds up in time that grows with what is added, however many legs share a resource. Keeps one number for
/// every resource that was ever named, so a cluster has one for all of its flows.
class DemandSums {
 public:
  void add(std::span<const Demand> demands) {
    for (const Demand& demand : demands) {
      if (demand.resource >= amounts_.size()) amounts_.resize(demand.resource + 1);
      double& amount = amounts_[demand.resource];
      if (amount == 0.0) named_.push_back(demand.resource);
      amount += demand.amount;
    }
  }
  /// Returns the sums in the order of resources, and begins anew.
  std::vector<Demand> take() {
    std::ranges::sort(named_);
    std::vector<Demand> sums;
    sums.reserve(named_.size());
    for (const ResourceId resource : named_)
      sums.push_back({resource, std::exchange(amounts_[resource], 0.0)});
    named_.clear();
    return sums;
  }

 private:
  std::vector<double> amounts_;  ///< indexed by resource; 0: not named since the last sum was taken
  std::vector<ResourceId> named_;
};

}}  // namespace c3::collectives
