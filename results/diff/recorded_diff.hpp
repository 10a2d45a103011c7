#pragma once
/// What a strategy that repeats a trace does otherwise than was recorded, both from one result file.

#include <cstdint>
#include <string>
#include <vector>

#include "results/diff/summary_diff.hpp"

namespace c3 { inline namespace results {

/// A kernel, copy or collective, simulated and as recorded. Dates in ps.
struct RecordedMatch {
  std::string name, kind;
  int gpu = 0;              ///< rank that was simulated
  int stream = 0;           ///< its number
  std::int64_t number = 0;  ///< among those of its name on the stream, from 1
  std::int64_t recorded_start = 0, recorded_duration = 0;
  std::int64_t start = 0, duration = 0;
  std::int64_t recorded_waiting = 0;  ///< part of a collective's duration, until its last member came
  std::int64_t waiting = 0;  ///< part of a collective's duration, for members or CUs, until a part of it ran

  std::int64_t start_shift() const { return start - recorded_start; }
  std::int64_t duration_change() const { return duration - recorded_duration; }
};

/// All matches of a name, over GPUs and streams. Times in ps.
struct RecordedTotal {
  std::string name, kind;
  std::uint64_t count = 0;
  std::int64_t recorded = 0, simulated = 0;  ///< durations
  std::int64_t start_shift = 0;              ///< added up
  std::int64_t recorded_waiting = 0, waiting = 0;

  std::int64_t change() const { return simulated - recorded; }
};

struct RecordedDiff {
  std::string strategy;
  std::vector<RecordedMatch> matches;  ///< those whose start is off most first, early or late
  std::vector<RecordedTotal> totals;   ///< those whose durations change most first
  std::uint64_t equal = 0;             ///< matches with the same start and duration
  std::uint64_t only_recorded = 0, only_simulated = 0;
  std::int64_t recorded_end = 0, simulated_end = 0;  ///< end of the last kernel or collective

  bool is_equal() const { return equal == matches.size() && only_recorded + only_simulated == 0; }
  /// So many of the starts, from 0 to 1, are off by no more, early or late [ps]. 0 where nothing was matched
  std::int64_t shift_at(double share) const;
};

/// Kernels and collectives of simulated ranks, matched in the order of each stream by their names. A fused
/// collective or another strategy may change what runs: what has no match is counted. \param tolerance
/// relative, of dates and durations. \throws IoError for a strategy that repeats no trace, or a damaged file
RecordedDiff diff_recorded(const StrategyIn& strategy, double tolerance);

}}  // namespace c3::results
