#pragma once
/// /strategies/<name>/summary: what the table says of a strategy, one one-row column a number.

#include "results/hdf5_handle.hpp"
#include "workloads/analysis/study.hpp"

namespace c3 { inline namespace results {

/// Attribute of the summary: what a user should know of how it ran, a line each.
inline constexpr const char* kNotes = "notes";

/// Attribute of the summary, where the time is an estimate: how it was found.
inline constexpr const char* kEstimateMethod = "estimate_method";

/// Numbers that are absent in \p result have no column: a reader must not mistake "not computed" for 0.
void write_summary(const H5Id& strategy, const StrategyResult& result);

}}  // namespace c3::results
