#pragma once
/// Collectives on copy engines (ConCCL, arXiv 2412.14335; DMA-Latte, arXiv 2511.06605): no CUs, no L2, no
/// reduction. With fewer engines than lanes several lanes share an engine, one after another.

#include <deque>
#include <optional>
#include <vector>

#include "collectives/collective_run.hpp"

namespace c3 { inline namespace collectives {

class DmaCollective final : public CollectiveRun {
 public:
  DmaCollective(Cluster& cluster, CollectivePlan plan);

 private:
  /// A job in flight.
  struct Progress {
    explicit Progress(Simulation& simulation) : signalled(simulation), seen(simulation) {}

    Event signalled;  ///< the engines have written its signal
    Event seen;       ///< the host has seen it
    ActivityId activity = kNoActivity;
  };

  void start(int rank) override;
  Task run();
  void begin_jobs();
  Task run_job(std::size_t index);
  DmaCopy copy_of(const DmaJob& job) const;
  void add_uses(DmaCopy& copy, const DmaJob& job) const;
  DmaStage stage_of(const DmaJob& job, std::size_t position) const;
  int engine_of(const DmaSubmission& submission) const { return submission.lane % width_; }

  const std::vector<DmaJob>& jobs_;  ///< the schedule's
  /// One per job. Present only while the collective runs, since few of a program's collectives run at a time.
  std::optional<std::deque<Progress>> progress_;
};

}}  // namespace c3::collectives
