#pragma once
/// Which collectives of the ranks of an operator list are one.

#include <cstdint>
#include <vector>

#include "workloads/traces/execution/operator_list.hpp"

namespace c3 { inline namespace traces {

struct ListedMember {
  std::uint32_t rank = 0;   ///< in OperatorList::ranks
  std::uint32_t place = 0;  ///< in its operators
};

/// Collectives that ran on a GPU: not those of a group of one rank, and not those that launched nothing in the
/// trace. Sends and receives are not matched.
bool runs_on_gpu(const ListedOperator& listed);

/// Matched by (process group, sequence number), else by their order in the group. A group that only has an
/// address is known by its size and its order among those of that size. Each has all members that are
/// listed, by rank; of a list of one rank that rank alone. \throws TraceSetError for members of unlike kind or
/// size, naming rank and place, and for more members than the group has
std::vector<std::vector<ListedMember>> matched_members(const OperatorList& list);

/// Process group of each operator's collective on \p rank, numbered in the order of first use; kNoIndex for
/// everything else. Groups have a stream each, as c10d gives them.
std::vector<std::uint32_t> group_numbers(const RankOperators& rank);

}}  // namespace c3::traces
