#pragma once
/// What was recorded, by its dates alone: for timelines beside those of a replay.

#include <vector>

#include "workloads/traces/replay/recorded_run.hpp"

namespace c3 { inline namespace traces {

/// A kernel, copy, memset or collective while it ran.
struct RecordedSpan {
  TextRow name = 0;           ///< as the replay names it
  bool communicates = false;  ///< a collective, matched with those of other ranks or not
  std::uint32_t stream = 0;
  Picoseconds start;
  Picoseconds
      last_start;  ///< of all members of a matched collective, for which it waited until then; else start
  Picoseconds end;

  bool operator==(const RecordedSpan&) const = default;
};

/// Work in its order, by row of RecordedRun::ranks. A collective ends as long after the start of its last
/// member as its duration says.
std::vector<std::vector<RecordedSpan>> recorded_spans(const RecordedRun& run);

}}  // namespace c3::traces
