#pragma once
/// Finds everything that an import report says.

#include <vector>

#include "workloads/traces/import_report.hpp"
#include "workloads/traces/rank_record.hpp"

namespace c3 { inline namespace traces {

/// \param ranks as order_ranks() leaves them. \throws TraceSetError for collectives that do not fit and for
/// edges that form a cycle
ImportReport make_report(const std::vector<Rank>& ranks);

}}  // namespace c3::traces
