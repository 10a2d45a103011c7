#pragma once
/// What one rank's trace holds, counted.

#include "workloads/traces/import_report.hpp"

namespace c3 { inline namespace traces {

/// Summary of a rank without the clock, which only the other ranks can tell.
RankSummary summary_of(const Rank& rank);

/// Classes over all ranks, the longest first.
std::vector<ClassSummary> classes_of(const std::vector<Rank>& ranks);

}}  // namespace c3::traces
