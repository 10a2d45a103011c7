#pragma once
/// Work groups that add what a fused collective stores at their GPU, where memory cannot.

#include <span>
#include <vector>

#include "collectives/collective_run.hpp"
#include "engine/event.hpp"
#include "engine/fifo_lock.hpp"

namespace c3 { inline namespace collectives {

/// The library's channels on one GPU, resident between the producer's launch and the collective's end; the
/// producer loses as many CUs as they need. They add one batch of tiles after another, each channel at its
/// rate. Wrong when: the core clock is below boost, which slows channels.
class CuAdder final : public DispatchClient {
 public:
  /// \p cluster and \p plan must outlive it. \throws InfeasibleError when a channel fits on no CU
  CuAdder(Cluster& cluster, const CollectivePlan& plan, int rank);

  /// Asks for its CUs.
  void start();
  /// Sums \p parts buffers of \p bytes each into one of them. \p account is the activity whose bytes these are.
  Task add(Bytes bytes, int parts, ActivityId account);
  /// Gives its CUs back.
  void end();
  void on_placed(int xcd, std::span<const int> cus) override;

 private:
  struct Place {
    int xcd, cu;
  };
  FlowSpec flow(Bytes bytes, int parts);

  Simulation& simulation_;
  Gpu& gpu_;
  const CollectiveLibrarySpec& library_;
  const CollectivePlan& plan_;
  int channels_;
  WorkGroupNeeds needs_;
  std::vector<Place> places_;
  bool ended_ = false;
  Event placed_;  ///< the first of them
  FifoLock turn_;
  std::vector<Demand> demands_;  ///< scratch
};

}}  // namespace c3::collectives
