#pragma once
/// What execution traces hold, for a user who has no Kineto traces beside them.

#include <vector>

#include "workloads/traces/execution/execution_trace.hpp"
#include "workloads/traces/node_graph_report.hpp"

namespace c3::inline traces {

NodeGraphReport make_report(const std::vector<ExecutionTrace>& ranks);

}  // namespace c3::traces
