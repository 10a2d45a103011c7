#pragma once
/// The tables `recorded/work` and `recorded/ranks` of a strategy that repeats a trace: what was recorded,
/// beside what was simulated.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "results/hdf5_handle.hpp"
#include "results/result_file.hpp"
#include "results/result_reader.hpp"
#include "workloads/traces/replay/rank_roles.hpp"

namespace c3 { inline namespace results {

/// A kernel, copy or collective of the recording. Dates in ps, on the axis of the simulated ones.
struct RecordedActivity {
  std::string name;
  std::string kind;  ///< "kernel" or "collective"
  std::int64_t start = 0;
  std::int64_t last_start = 0;  ///< a collective waited for its last member until then; else start
  std::int64_t end = 0;

  bool operator==(const RecordedActivity&) const = default;
};

/// What ranks of a trace did, and which rank of the system repeats which of them.
struct RecordedTimeline {
  std::vector<std::int64_t> rank_of;  ///< indexed by rank of the system: the rank of the trace; -1: none
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<RecordedActivity>>
      streams;  ///< keyed by rank of the trace and stream: in the order of the stream

  /// What \p gpu repeats on \p stream; empty where it repeats nothing.
  const std::vector<RecordedActivity>& of(int gpu, int stream) const;
  std::int64_t end() const;  ///< end of the last activity
};

void write_recorded(const H5Id& strategy, const PlacedRun& recording, NameTable& names);

/// Absent for a strategy of no trace, and in files before 1.7.0. \throws IoError when the tables are damaged
std::optional<RecordedTimeline> read_recorded(const ResultReader& file, const std::string& strategy);

}}  // namespace c3::results
