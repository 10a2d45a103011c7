#pragma once
/// Where the time of an average GPU goes.

#include <vector>

#include "workloads/execute/run_result.hpp"

namespace c3 { inline namespace workloads {

/// The mean of every time in the breakdowns of \p classes, over all ranks. \pre \p classes has every rank
StepBreakdown average_breakdown(const std::vector<SimulatedClass>& classes);

}}  // namespace c3::workloads
