#pragma once
/// Copies between GPUs and the memory of their hosts, and what hosts do there.

#include <map>
#include <string>
#include <utility>

#include "collectives/cluster.hpp"
#include "workloads/program/program.hpp"

namespace c3 { inline namespace workloads {

/// A copy is one flow over the link to the host (HostLinks), the memory there and the GPU's HBM, where it
/// competes like a copy engine of its own; before it are the phases of a copy engine's command that follow the
/// doorbell. What a host does itself takes the memory of all processors of its node, which the ranks there
/// share. HostCopy::most is a ceiling. Wrong when: the host's memory is pageable, so that its cores
/// copy, too, which `most` has only as a rate; a host's cores cannot take
/// all of its memory's bandwidth; several copies of one GPU go the same way, for which a GPU may have one
/// engine.
class HostCopies {
 public:
  /// With classes of ranks: adds what all ranks copy to the cluster's links, which are folded later. Both must
  /// outlive it.
  HostCopies(Cluster& cluster, const Program& program);

  /// One launch, as an activity of stream \p stream.
  struct Launch {
    int rank = 0;
    int stream = 0;
    std::string name;
    Seconds delay;  ///< before the engine has the command
    ActivityId parent = kNoActivity;
    ActivityId* activity = nullptr;  ///< receives it
  };
  Task run(HostCopy copy, Launch launch) const;
  /// The greatest spread, over the mean, of loads that classes of ranks average; 0: none are averaged.
  double inequity() const;

 private:
  void add_edges(const Program& program);
  void add_demands(std::vector<Demand>& demands, HostCopy copy, const Launch& launch) const;
  Seconds latency(HostWay way, int rank) const;

  Cluster& cluster_;
  std::map<std::pair<int, HostWay>, EdgeSetId> sets_;  ///< with classes, by class
  std::vector<std::size_t> calls_;                     ///< of FoldedLinks, with classes
};

}}  // namespace c3::workloads
