#pragma once
/// \file
/// An execution trace beside the Kineto trace of the same rank: the one has shapes, values and what c10d
/// says of collectives, the other has times.

#include <cstdint>
#include <vector>

#include "workloads/traces/execution/execution_trace.hpp"
#include "workloads/traces/import_report.hpp"
#include "workloads/traces/trace_event.hpp"

namespace c3 { inline namespace traces {

struct KinetoJoin {
  std::vector<std::uint32_t> node_of_op;  ///< [Trace::ops] in ExecutionTrace::nodes; kNoIndex: none
  bool by_record_id = false;
};

/// Joins by "Record function id" where at least half of the nodes are found so, with the same name; what is
/// left, or all, thread by thread in order of time and by name, as the two are often recorded in different
/// steps. The steps of a Kineto trace of many steps are all joined with the one of the execution trace.
KinetoJoin join_with_kineto(const Trace& kineto, const ExecutionTrace& execution);

/// Adds to the operators of \p kineto the shapes, types and values of their inputs, and the metadata of
/// collectives, where it lacks them. What Kineto recorded itself stays.
/// \param join that of both. \returns what was joined, for the report
ExecutionJoin complete_from(const ExecutionTrace& execution, const KinetoJoin& join, Trace& kineto);

}}  // namespace c3::traces
