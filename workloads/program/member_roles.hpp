#pragma once
/// What a collective asks of one member of a group and not of another.

#include <cstdint>
#include <vector>

#include "collectives/call.hpp"

namespace c3 { inline namespace workloads {

/// By place in \p members: equal numbers for members that are treated alike. A root differs from the others,
/// and so do members of an all-to-all with a size for each pair that send or receive other sizes. Empty: all
/// are treated alike.
std::vector<std::uint32_t> member_roles(const CollectiveCall& call, const std::vector<int>& members);

}}  // namespace c3::workloads
