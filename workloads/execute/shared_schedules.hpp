#pragma once
/// What runs of one study make of their collectives, once for all.

#include <memory>
#include <optional>
#include <string>

#include "collectives/cluster.hpp"
#include "workloads/execute/operation_filter.hpp"

namespace c3 { inline namespace workloads {

/// Of a cluster whose ranks are simulated by classes, schedules and the links that they load take a run longer
/// to make than it takes to simulate where ranks are many, and steps of fewer layers have the same ones. A run
/// asks for what a run of its kind has made; one that turns out to have other collectives begins anew without.
class SharedSchedules {
 public:
  /// Runs of one kind mostly have the same collectives.
  struct Kind {
    std::string strategy;
    OperationFilter filter = OperationFilter::all;
    CollectiveGrain grain = CollectiveGrain::edge;
    std::optional<std::size_t> only_stream;

    bool operator==(const Kind&) const = default;
  };

  /// What is kept, if it is of that kind, cluster and classes; else nullptr. Nothing is kept any longer: of
  /// many ranks, schedules take gigabytes.
  std::shared_ptr<const FoldedSchedules> take(const Kind& kind, const ClusterSpec& cluster,
                                              const RankPartition& classes);
  /// In place of what was kept.
  void keep(const Kind& kind, const ClusterSpec& cluster, std::shared_ptr<const FoldedSchedules> schedules);

 private:
  Kind kind_;
  ClusterSpec cluster_;
  std::shared_ptr<const FoldedSchedules> schedules_;
};

}}  // namespace c3::workloads
