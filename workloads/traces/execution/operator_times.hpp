#pragma once
/// \file
/// The times of an operator list, from the Kineto traces of its ranks.

#include <cstdint>
#include <vector>

#include "workloads/traces/execution/kineto_join.hpp"
#include "workloads/traces/execution/operator_list.hpp"
#include "workloads/traces/node_graph_report.hpp"
#include "workloads/traces/rank_record.hpp"

namespace c3 { inline namespace traces {

/// How much of the GPU work of a Kineto trace is that of listed operators.
struct OperatorCoverage {
  std::size_t activities = 0;
  std::size_t covered = 0;
  Picoseconds time;
  Picoseconds covered_time;
  std::vector<NodeCount> rest;   ///< GPU work of no listed operator, by name, the longest first
  std::int64_t repetitions = 1;  ///< of the list in the trace: the median over its operators
};

/// The place of the listed operator that launched each piece of GPU work of \p kineto; kNoIndex where none did.
/// Work of an operator that is not listed belongs to the listed one around it.
std::vector<std::uint32_t> launching_places(const ExecutionTrace& execution, const Rank& kineto,
                                            const KinetoJoin& join);

/// Gives the operators of \p list, made from \p execution, the times of the GPU work that they launched in
/// \p kineto, and of the host between them. The host is taken as one thread, which does what all of them do in
/// the order in which operators began.
OperatorCoverage add_times(RankOperators& list, const ExecutionTrace& execution, const Rank& kineto,
                           const KinetoJoin& join);

/// Adds to the first operator of each rank how much later than the first of all ranks it began its steps, in
/// the mean: ranks leave the step before at different dates. \param rank_of of each listed rank, in \p ranks
void add_starts(OperatorList& list, const std::vector<Rank>& ranks, const std::vector<std::size_t>& rank_of);

}}  // namespace c3::traces
