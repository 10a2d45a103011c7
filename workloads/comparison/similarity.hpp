#pragma once
/// A recording beside its replays.

#include <cstdint>
#include <span>
#include <vector>

#include "workloads/experiment.hpp"
#include "workloads/traces/execution/operator_times.hpp"
#include "workloads/traces/replay/rank_figures.hpp"

namespace c3 { inline namespace traces {

/// A rank of an operator list, and the traces that it was made from.
struct ListedRank {
  const ExecutionTrace* execution = nullptr;
  const KinetoJoin* join = nullptr;
  std::size_t rank = 0;          ///< in the vector of Kineto traces
  std::int64_t repetitions = 1;  ///< OperatorCoverage::repetitions
};

/// The recorded run of \p ranks, its work called after the operators of \p list that launched it. \param listed
/// of each rank of the list
RecordedRun named_by_list(const std::vector<Rank>& ranks, std::span<const ListedRank> listed,
                          const OperatorList& list);

/// What is compared.
struct Compared {
  const RecordedRun& recording;
  const RecordedRun& run;                   ///< that is replayed: the recording itself, or that of a benchmark
  const Experiment& with_recorded;          ///< its replay with recorded times
  const Experiment& with_modelled;          ///< its replay by the model
  std::span<const ListedRank> listed = {};  ///< of a benchmark: one for each of its ranks
};

/// Simulates both and sets them beside the recording, for each rank of the replayed run. Steps of a program are
/// those that the profiler named, or all of the GPU work. A benchmark is one repetition of its list: its length
/// is from the begin of the first rank's step to the end of a rank's work, and streams are called after their
/// use.
std::vector<RankSimilarity> similarities(const Compared& compared);

}}  // namespace c3::traces
