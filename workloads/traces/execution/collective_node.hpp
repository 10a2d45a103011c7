#pragma once
/// What the node of a collective says of it.

#include "workloads/traces/execution/execution_trace.hpp"
#include "workloads/traces/execution/node_json.hpp"

namespace c3 { inline namespace traces {

/// Reads a node `record_param_comms`, whose arguments moved between versions of PyTorch: types decide,
/// positions only among arguments of one type. Newer versions repeat them by name, in "attrs", which win.
///
/// | schema | arguments |
/// | --- | --- |
/// | 1.0.1 | [tensors,] sequence, address of the group, rank, name, in-splits, out-splits[, group size] |
/// | 1.0.2 and later | [tensors,] sequence, (group, description), rank, name, in-splits, out-splits, first
/// rank, stride, size |
///
/// The sequence can be a pair with a flag. Those without tensors wait.
/// \param node its arguments \p inputs and \p outputs are already read into \p trace
ExecutionCollective read_collective(const NodeJson& node, const ExecutionArguments& inputs,
                                    const ExecutionArguments& outputs, ExecutionTrace& trace);

/// Pairs each wait with its issue: the latest one before it of the same sequence number, and of the same group
/// if the wait names one. \p collectives are in the order of their nodes.
void pair_waits(std::vector<ExecutionCollective>& collectives);

}}  // namespace c3::traces
