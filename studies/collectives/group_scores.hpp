#pragma once
/// What tables of one kind of system come to, and how far measurements of two sites agree.

#include <deque>

#include "studies/collectives/table_run.hpp"
#include "studies/study.hpp"

namespace c3 { inline namespace studies {

/// Errors over rows of tables that set no parameter: of several nodes, of Blackwell, of nodes whose GPUs are
/// joined by PCIe alone; and the share of tables whose peak bus bandwidth is predicted.
StudySection group_scores(const std::deque<TableRun>& tables, const PublishedFigures& published);

/// Tables of the same hardware, operation and ranks in two files, often of two sites: how far the measured
/// times of equal sizes are apart. What predicts both is off by half of that from one
/// of them. Without lines where there
/// are no two such tables.
StudySection site_differences(const std::deque<TableRun>& tables, const PublishedFigures& published);

}}  // namespace c3::studies
