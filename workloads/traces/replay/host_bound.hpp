#pragma once
/// How much of a recorded run its hosts decide.

#include "workloads/traces/replay/recorded_run.hpp"

namespace c3 { inline namespace traces {

/// Time from the first event to the end of the last GPU work, which is the time that a simulation has.
struct HostBound {
  Picoseconds recorded;
  Picoseconds
      by_hosts;  ///< with kernels, copies and collectives that take no time: no GPU or network is faster

  double share() const;  ///< by_hosts of recorded; 0 of a run without work
};

/// A longest path over what hosts did and what waited for what. \throws CycleError
HostBound host_bound(const RecordedRun& run);

}}  // namespace c3::traces
