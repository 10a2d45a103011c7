#pragma once
/// \file
/// What each pair of ranks moves in an all-to-all with unequal shares.

#include <cstdint>
#include <vector>

#include "workloads/traces/collective_matching.hpp"

namespace c3 { inline namespace traces {

/// Whether a member of \p instance, an all-to-all, divides what it sends or receives unequally.
bool has_unequal_shares(const CollectiveInstance& instance, const std::vector<Rank>& ranks);

/// Bytes from each member of \p instance (row) to each member, by their splits: rows of the first dimension of
/// what a rank sends, by peer in the order of the group; "[]" is equal shares. Empty where they are not
/// known of every member of the group: a rank or its splits not recorded, or a list shortened by the
/// profiler, as those of more than 30 ranks are. Wrong when: the ranks of a group are not in ascending order.
/// \throws TraceSetError, at the kernel, for splits of another number than the group has ranks, for splits that
/// do not divide the buffer, and where a rank sends another what that does not receive
std::vector<std::int64_t> bytes_of_pairs(const CollectiveInstance& instance, const std::vector<Rank>& ranks);

}}  // namespace c3::traces
