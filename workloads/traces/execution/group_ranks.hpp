#pragma once
/// Process groups of a job, and which of its ranks a trace is of.

#include <optional>
#include <string_view>
#include <vector>

#include "workloads/traces/execution/execution_trace.hpp"

namespace c3 { inline namespace traces {

/// The groups of a JSON array [{"pg_name", "pg_desc", "ranks", "group_size", ..}, ..]; none of anything else.
std::vector<ExecutionGroup> read_groups(std::string_view json);

/// Gives the collectives of \p trace what its list of groups says: sizes, and which ranks of the job are in
/// them; without a list, the ranks by first one and stride.
void complete_groups(ExecutionTrace& trace);

/// Sets rank and world size from the collectives of the largest group, where they say which of the job's ranks
/// are in it.
void set_rank(ExecutionTrace& trace);

/// The rank of a trace whose collectives say only which rank of their group it is, as those of schema 1.0.1 do:
/// right where its largest group is the whole job. Nothing if it has no group of several ranks.
std::optional<int> rank_in_largest_group(const ExecutionTrace& trace);

}}  // namespace c3::traces
