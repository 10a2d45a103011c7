#pragma once
/// Reads PyTorch execution traces, of schemas 1.0.1 to 1.1.1-chakra.0.0.4.

#include <string>

#include "workloads/traces/execution/execution_trace.hpp"
#include "workloads/traces/json_splitter.hpp"

namespace c3 { inline namespace traces {

/// Reads \p source to its end. Memory is that of the nodes, and of the text of the largest one.
/// Lenient: nodes may be in any order and lack anything but their id, names need not be UTF-8, keys and
/// types of arguments that later versions add are passed over, and so is what a linker added of GPU work
/// ("et_plus").
/// \param file for messages. \throws TraceError for what is not such a trace, an id that is there twice, and
/// nodes that are each other's parents: the message names the node by its place in "nodes"
ExecutionTrace read_execution_trace(const std::string& file, const ByteSource& source);

}}  // namespace c3::traces
