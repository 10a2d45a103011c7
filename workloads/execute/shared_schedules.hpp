#pragma once
/// What runs of one study make of their collectives, once for all.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "collectives/cluster.hpp"
#include "workloads/experiment.hpp"

namespace c3::inline workloads {

struct RunSetup;

/// Of a cluster whose ranks are simulated by classes, schedules and the links that they load take a run longer
/// to make than it takes to simulate where ranks are many, and steps of fewer layers have the same ones. A run
/// asks for what a run of its kind has made; one that turns out to have other collectives begins anew without.
class SharedSchedules {
 public:
  /// Of a run of \p strategy as \p setup has it; nullptr: there is nothing yet.
  std::shared_ptr<const FoldedSchedules> find(const Experiment& experiment, const Strategy& strategy,
                                              const RunSetup& setup, const RankPartition& classes) const;
  /// In place of what was kept of runs of that kind.
  void keep(const Experiment& experiment, const Strategy& strategy, const RunSetup& setup,
            std::shared_ptr<const FoldedSchedules> schedules);

 private:
  struct Kind {
    std::string strategy;
    int filter = 0, grain = 0;
    std::size_t stream = 0;
    bool operator==(const Kind&) const = default;
  };
  static Kind kind_of(const Experiment& experiment, const Strategy& strategy, const RunSetup& setup);
  struct Kept {
    Kind kind;
    ClusterSpec cluster;
    std::shared_ptr<const FoldedSchedules> schedules;
  };
  std::vector<Kept> kept_;
};

}  // namespace c3::workloads
