#pragma once
/// What the collectives of a run are, what they cost, and who was late.

#include "workloads/traces/import_report.hpp"

namespace c3 { inline namespace traces {

/// Fills in everything about collectives.
void add_collectives(const std::vector<Rank>& ranks, const std::vector<CollectiveInstance>& instances,
                     const std::vector<Picoseconds>& shifts, ImportReport& report);

}}  // namespace c3::traces
