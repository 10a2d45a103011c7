#pragma once
/// Kernels of recorded steps as a table of durations.

#include <cstddef>
#include <vector>

#include "workloads/sampling/invocations.hpp"
#include "workloads/traces/rank_record.hpp"
#include "workloads/traces/replay/recorded_run.hpp"

namespace c3 { inline namespace sampling {

struct RecordedKernels {
  Invocations invocations;  ///< of all ranks, one after another, each in the order of start
  std::size_t collectives =
      0;  ///< kernels left out: they mostly wait for the last rank, which a sample cannot know
  Seconds collective_time;  ///< of those
};

/// Copies and memsets are no kernels, and are left out too.
RecordedKernels recorded_kernels(const std::vector<Rank>& ranks);
/// The same of an imported run; work whose time is not known is left out.
RecordedKernels recorded_kernels(const RecordedRun& run);

}}  // namespace c3::sampling
