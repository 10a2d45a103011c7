#pragma once
/// What a run keeps of its collectives and messages.

#include <string>

#include "collectives/collective_run.hpp"
#include "workloads/execute/run_result.hpp"
#include "workloads/program/program.hpp"

namespace c3 { inline namespace workloads {

/// Of a rank's part in \p run, which took \p span.
CollectiveRecord record_of(const CollectiveRun& run, int rank, const SideSpan& span);

/// Of the messages of one launch, which took \p span: what the rank sends or what it receives, whichever is
/// more. \param first the run of the first of them, whose method stands for all
CollectiveRecord record_of(const std::string& name, const Exchange& exchange, const CollectiveRun& first,
                           int rank, const SideSpan& span);

}}  // namespace c3::workloads
