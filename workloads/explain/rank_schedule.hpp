#pragma once
/// When each kind of rank computes and communicates in one repetition, coarse enough to be drawn.

#include <string>
#include <vector>

#include "workloads/execute/partition.hpp"
#include "workloads/experiment.hpp"

namespace c3 { inline namespace workloads {

/// Operations in a row, drawn as one.
struct ScheduledSlice {
  std::string name;  ///< of kernels the pass, "micro-batch 3, backward", or the operation; else its class
  Seconds begin, end;

  bool operator==(const ScheduledSlice&) const = default;
};

struct ScheduleLane {
  std::string name;  ///< of a stream with kernels; "communication" of all others together
  bool has_kernels = true;
  std::vector<ScheduledSlice> slices;  ///< by begin

  bool operator==(const ScheduleLane&) const = default;
};

struct RankSchedule {
  int rank = 0;
  std::string name;  ///< of its script, e.g. "stage 3"; empty where all ranks run one
  std::vector<ScheduleLane> lanes;

  bool operator==(const RankSchedule&) const = default;
};

struct StepSchedule {
  Seconds time;                     ///< of what was recorded
  std::vector<RankSchedule> ranks;  ///< the first simulated one of each script

  bool operator==(const StepSchedule&) const = default;
};

/// Of the first repetition of recorded_part(). Slices less than a thousandth of the time apart that have one
/// name are joined, those of one pass however far apart they are.
StepSchedule step_schedule(const Experiment& experiment, const Strategy& strategy, const CuChoice& cus);

}}  // namespace c3::workloads
