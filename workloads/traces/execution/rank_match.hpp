#pragma once
/// Which execution trace is of the rank of which Kineto trace.

#include <cstdint>
#include <optional>
#include <vector>

#include "workloads/traces/execution/execution_trace.hpp"
#include "workloads/traces/trace_event.hpp"

namespace c3 { inline namespace traces {

/// The rank of an execution trace: that of the job in its content, else in the name of its file, else the
/// rank in its largest group.
std::optional<int> rank_of(const ExecutionTrace& trace);

/// The index in \p kinetos of the trace of the same rank, for each of \p executions; kNoIndex if there is none.
/// Traces match by rank, if both files say it in their content; else by the number of the process, if one
/// Kineto trace alone has it; else by rank_of() and, where a Kineto trace does not say its rank, its name. A
/// single Kineto trace also matches if its rank or that of the execution trace is unknown.
/// \throws TraceSetError if two execution traces have the rank of one Kineto trace
std::vector<std::uint32_t> match_ranks(const std::vector<Trace>& kinetos,
                                       const std::vector<ExecutionTrace>& executions);

}}  // namespace c3::traces
