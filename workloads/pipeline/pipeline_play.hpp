#pragma once
/// Plays a pipeline's schedule with given times of passes: its bubble, what stages keep, or where it is stuck.

#include <optional>
#include <string>
#include <vector>

#include "engine/units.hpp"
#include "workloads/pipeline/schedule.hpp"

namespace c3 { inline namespace workloads {

/// What one chunk takes for each pass of a micro-batch. A backward pass that is not split takes `backward` and
/// `weights`. A message between stages comes so long after the pass that sends it, and keeps nobody busy.
struct PassTimes {
  Seconds forward, backward, weights, message;
};

struct PlayedStage {
  Seconds begin, end;  ///< of its first and last pass
  Seconds busy;        ///< in all its passes
  int most_kept = 0;   ///< chunks of micro-batches that went forward and whose last pass has not run, at most

  Seconds idle() const { return end - begin - busy; }
};

/// A stage that cannot go on, at a task that needs another one.
struct StuckStage {
  int stage = 0;
  PipelineTask task;
  ChunkPlace needs_from;
  PipelineTask needs;
};

struct PlayedPipeline {
  Seconds time;  ///< until the last pass of all has ended
  std::vector<PlayedStage> stages;
  std::vector<StuckStage> circle = {};  ///< stages that wait for one another; empty: the schedule ends

  Seconds bubble() const;       ///< longest time that a stage waits between its first and its last pass
  double bubble_share() const;  ///< of `time`, idle time averaged over stages
};

/// \pre \p schedule has every pass of every micro-batch once.
PlayedPipeline play(const PipelineSchedule& schedule, const PassTimes& times);

/// What is wrong with a schedule that somebody has written: a pass that is missing, there twice or of a
/// micro-batch or chunk that there is not, messages that are not received in the order in which they are sent,
/// or stages that wait for one another. \param stage_names by stage, for the text; nullopt: nothing is wrong.
std::optional<std::string> flaw_of(const PipelineSchedule& schedule, int micro_batches,
                                   const std::vector<std::string>& stage_names);

}}  // namespace c3::workloads
