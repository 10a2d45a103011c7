#pragma once
/// GPUs joined by an interconnect, in one simulation.

#include <deque>
#include <memory>
#include <vector>

#include "collectives/schedule.hpp"
#include "collectives/spec.hpp"
#include "gpu/gpu.hpp"
#include "interconnect/interconnect.hpp"

namespace c3::inline collectives {

struct ClusterSetup {
  GpuSetup gpu;
  bool folded =
      true;  ///< simulate rank 0 for all ranks; requires that every rank does the same at the same time
};

/// \p spec must outlive it. Ranks draw the same random numbers, as symmetric ranks do that fold to one.
class Cluster {
 public:
  /// \throws InfeasibleError for more ranks than memory holds, unless they are folded
  Cluster(Simulation& simulation, const ClusterSpec& spec, const ClusterSetup& setup);

  Simulation& simulation() { return simulation_; }
  const ClusterSpec& spec() const { return spec_; }
  const ClusterSetup& setup() const { return setup_; }
  int ranks() const { return spec_.ranks(); }
  int simulated_ranks() const { return static_cast<int>(gpus_.size()); }  ///< 1 when folded
  /// The GPU that stands for \p rank.
  Gpu& gpu(int rank) { return *gpus_[setup_.folded ? 0 : static_cast<std::size_t>(rank)]; }
  const Interconnect& interconnect() const { return interconnect_; }
  ScheduleStore& schedules() { return schedules_; }
  /// A thread that feeds the copy engines of all GPUs of a node, where there is not one for each GPU.
  FifoLock& host_of_node(int rank) {
    return hosts_[setup_.folded ? 0 : static_cast<std::size_t>(rank / spec_.node.gpus)];
  }

 private:
  Simulation& simulation_;
  const ClusterSpec& spec_;
  ClusterSetup setup_;
  std::vector<std::unique_ptr<Gpu>> gpus_;
  Interconnect interconnect_;
  ScheduleStore schedules_;
  std::deque<FifoLock> hosts_;  ///< by node
};

}  // namespace c3::collectives
