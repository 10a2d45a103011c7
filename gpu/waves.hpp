#pragma once
/// How a grid is dealt to XCDs, and the waves that follow.

#include <cstdint>
#include <span>

namespace c3::inline gpu {

/// Work groups of XCD \p xcd: the grid is dealt round robin, work group i to XCD i mod XCDs, as CDNA 3 does.
std::int64_t work_groups_of_xcd(std::int64_t work_groups, int xcds, int xcd);

/// Waves of a grid dealt round robin: of the XCD that needs most for its share, and at least 1.
/// \param slots_in_xcd work groups that each XCD holds at once; one that has no slot yet counts as having one.
/// Wrong when: kernels are persistent; work groups of one wave end so far apart that the next begins unevenly.
std::int64_t wave_count(std::int64_t work_groups, std::span<const std::int64_t> slots_in_xcd);

}  // namespace c3::gpu
