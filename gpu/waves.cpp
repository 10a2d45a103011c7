#include "gpu/waves.hpp"

#include <algorithm>

namespace c3::inline gpu {

std::int64_t work_groups_of_xcd(std::int64_t work_groups, int xcds, int xcd) {
  return work_groups / xcds + (xcd < work_groups % xcds ? 1 : 0);
}

std::int64_t wave_count(std::int64_t work_groups, std::span<const std::int64_t> slots_in_xcd) {
  const auto xcds = static_cast<int>(slots_in_xcd.size());
  std::int64_t most = 1;
  for (int xcd = 0; xcd < xcds; ++xcd) {
    const std::int64_t share = work_groups_of_xcd(work_groups, xcds, xcd);
    const std::int64_t slots = std::max<std::int64_t>(1, slots_in_xcd[static_cast<std::size_t>(xcd)]);
    most = std::max(most, (share + slots - 1) / slots);
  }
  return most;
}

}  // namespace c3::gpu
