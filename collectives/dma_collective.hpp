#pragma once
/// Collectives on copy engines (ConCCL, arXiv 2412.14335): no CUs, no L2, no reduction. One engine a lane, or,
/// with fewer engines than lanes, several lanes an engine, one after another.

#include "collectives/collective_run.hpp"

namespace c3 {

class DmaCollective final : public CollectiveRun {
 public:
  DmaCollective(Cluster& cluster, CollectivePlan plan);

 private:
  void start(int rank) override;
  Task run();
  Task run_move(std::size_t index);
  DmaCopy command(const Move& move) const;

  std::vector<std::unique_ptr<Event>> arrived_;  ///< by move
  std::vector<ActivityId> transfers_;            ///< by move
};

}  // namespace c3
