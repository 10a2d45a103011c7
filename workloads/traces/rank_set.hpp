#pragma once
/// The ranks of one run, from the files that a user names.

#include <vector>

#include "workloads/traces/rank_record.hpp"

namespace c3::inline traces {

/// Sorts \p ranks by number. One file may be any rank, or not say which.
/// \param allow_missing accept some but not all ranks of the job
/// \throws TraceSetError for a rank that is there twice, several files of which one does not say its rank, and
/// missing ranks
void order_ranks(std::vector<Rank>& ranks, bool allow_missing);

/// Numbers of the job's ranks that are not there. Empty if the files do not say how many there are.
std::vector<int> missing_ranks(const std::vector<Rank>& ranks);

}  // namespace c3::traces
