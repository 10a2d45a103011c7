#pragma once
/// What execution traces hold, for a user who has no Kineto traces beside them.

#include <string>
#include <vector>

#include "workloads/traces/execution/execution_trace.hpp"
#include "workloads/traces/execution/operator_list.hpp"
#include "workloads/traces/node_graph_report.hpp"

namespace c3 { inline namespace traces {

NodeGraphReport make_report(const std::vector<ExecutionTrace>& ranks);

/// The same of an operator list that was read from \p file.
NodeGraphReport make_report(const OperatorList& list, const std::string& file);

}}  // namespace c3::traces
