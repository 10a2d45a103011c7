#pragma once
/// How unevenly tokens are spread over the ranks that have experts.

#include <cstdint>
#include <vector>

#include "workloads/training/setup.hpp"

namespace c3 { inline namespace workloads {

/// Share of an expert group's tokens that each rank's experts get, layer by layer. A token counts once for
/// each of its experts. Replicas of the group are alike.
class ExpertLoads {
 public:
  ExpertLoads(std::vector<std::vector<double>> shares) : shares_(std::move(shares)) {}

  /// \param position of the rank in its group. Shares of a layer add up to 1.
  double share(std::int64_t layer, int position) const {
    return shares_.at(static_cast<std::size_t>(layer)).at(static_cast<std::size_t>(position));
  }
  int positions() const { return static_cast<int>(shares_.front().size()); }
  /// What the busiest rank of a layer gets over an even share, in the mean of layers: 1 where all get as much.
  double busiest() const;

 private:
  std::vector<std::vector<double>> shares_;  ///< by layer and position
};

/// Routing::histogram has the same shares in every layer. Routing::dirichlet draws those of experts anew for
/// every layer and replica, none above one token of each choice; all replicas are then as the one that waits
/// longest for its busiest ranks, summed over layers: the last of them decides when gradients are there. Wrong
/// when: loads of layers depend on each other. \param replicas of the group
ExpertLoads draw_loads(const TrainingSetup& setup, int replicas);

}}  // namespace c3::workloads
