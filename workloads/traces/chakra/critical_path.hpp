#pragma once
/// The longest chain of nodes of a Chakra trace that wait for each other.

#include <cstddef>
#include <cstdint>

#include "workloads/traces/chakra/chakra_trace.hpp"
#include "workloads/traces/node_graph_report.hpp"

namespace c3 { inline namespace traces {

/// Who takes the time of a node.
enum class ChakraPlace : std::uint8_t { host, compute, communication };
ChakraPlace place_of(const ChakraNode& node);
void add_time(NodeTimes& times, const ChakraNode& node);

/// The path whose durations add up to most: what a run would take at least if every node began as soon as its
/// dependencies have ended, on as many threads and streams as there can be. Data dependencies are followed:
/// control dependencies say in converted traces which node called which, with numbers that can be those of
/// other nodes (in a sample of Chakra's own tests 1,277 are of no node and others form rings). A trace without
/// any data dependency has its order in the control dependencies. Those on nodes that are not in the file are
/// passed over. Wrong when: used as a prediction. Gaps between calls of the host, and streams and threads that
/// do one thing after the other, are not in a Chakra trace, and durations are whole microseconds. \throws
/// TraceSetError if nodes wait for each other in a ring: it names one of them
NodeTimes critical_path(const ChakraTrace& trace);

/// Dependencies, control and data, on nodes that are not in the file.
std::size_t missing_dependencies(const ChakraTrace& trace);

}}  // namespace c3::traces
