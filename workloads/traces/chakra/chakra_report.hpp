#pragma once
/// What Chakra traces hold.

#include <vector>

#include "workloads/traces/chakra/chakra_trace.hpp"
#include "workloads/traces/node_graph_report.hpp"

namespace c3 { inline namespace traces {

/// \throws TraceSetError if the nodes of a trace wait for each other in a ring
NodeGraphReport make_report(const std::vector<ChakraTrace>& ranks);

}}  // namespace c3::traces
