#pragma once
/// Which recorded rank each rank of a cluster repeats.

#include <cstdint>
#include <vector>

#include "workloads/traces/replay/recorded_run.hpp"

namespace c3 { inline namespace traces {

/// The row of RecordedRun::ranks whose work each rank of a cluster does; kNoIndex: it does nothing.
using RankRoles = std::vector<std::uint32_t>;

/// Every recorded rank in its place; the others do nothing. Where one rank was recorded alone, all do what it
/// did. \throws InfeasibleError for a recorded rank that a cluster of \p ranks does not have
RankRoles recorded_roles(const RecordedRun& run, int ranks);

/// Rank r does what recorded rank r mod (their number) did.
RankRoles repeated_roles(const RecordedRun& run, int ranks);

/// A run, and what the ranks of a cluster repeat of it.
struct PlacedRun {
  RecordedRun run;
  RankRoles roles;
};

}}  // namespace c3::traces
