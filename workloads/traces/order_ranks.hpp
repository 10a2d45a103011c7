#pragma once
/// The ranks of one run as all that reads them expects them.

#include <vector>

#include "workloads/traces/rank_record.hpp"

namespace c3 { inline namespace traces {

/// Checks \p ranks as check_ranks() does and sorts them by number. Kernels that were matched over all ranks of
/// a job, and whose group is not recorded, get the size of the job. \throws TraceSetError
void order_ranks(std::vector<Rank>& ranks, bool allow_missing);

}}  // namespace c3::traces
