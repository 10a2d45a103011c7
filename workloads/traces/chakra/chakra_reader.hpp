#pragma once
/// Reads Chakra traces, in their protobuf and JSON forms.

#include <string>

#include "workloads/traces/chakra/chakra_trace.hpp"
#include "workloads/traces/json_splitter.hpp"

namespace c3 { inline namespace traces {

/// Reads messages of varint length and protobuf, to the end of \p source. Memory is that of the nodes, and of
/// the largest message, of at most 64 MiB.
/// Lenient: unknown fields, attributes of any integer kind, nodes in any order, with or without times.
/// \param file for messages. \throws TraceError for what is not such a trace, and an id that is there twice:
/// the message names the node by its place in the file, from 0
ChakraTrace read_chakra(const std::string& file, const ByteSource& source);

/// Reads {"workload_graph": [{"Id", "Name", "NodeType", "ctrlDeps", "data_deps", "runtime", "is_cpu_op", ..}]}.
/// Keys may be written with underscores or capital letters. The same errors.
ChakraTrace read_chakra_json(const std::string& file, const ByteSource& source);

}}  // namespace c3::traces
