#include "gpu/known_placements.hpp"

#include <algorithm>
#include <utility>

#include "gpu/waves.hpp"

namespace c3 { inline namespace gpu {
namespace {

constexpr std::size_t kMost = 4096;  // some kB each

}  // namespace

void GridPlacement::add(int xcd, std::span<const int> cus) {
  for (const int cu : cus) {
    if (std::cmp_greater_equal(cu, groups_on_.size())) groups_on_.resize(static_cast<std::size_t>(cu) + 1, 0);
    ++groups_on_[static_cast<std::size_t>(cu)];
  }
  for (const int cu : cus) {
    const int groups = std::exchange(groups_on_[static_cast<std::size_t>(cu)], 0);
    if (groups == 0) continue;
    slots.push_back({xcd, cu, groups});
    most_on_a_cu = std::max(most_on_a_cu, groups);
  }
  if (std::cmp_greater_equal(xcd, in_xcd.size())) in_xcd.resize(static_cast<std::size_t>(xcd) + 1, 0);
  in_xcd[static_cast<std::size_t>(xcd)] += std::ssize(cus);
}

std::shared_ptr<const KnownPlacements::Placement> KnownPlacements::of(const ComputeUnits& units, int xcds,
                                                                      const WorkGroupNeeds& needs,
                                                                      CuRange range, std::int64_t work_groups) {
  if (found_.size() >= kMost) found_.clear();
  const auto [found, is_new] = found_.try_emplace(Grid{needs.lds.value, needs.registers.value, needs.waves,
                                                       range.begin, range.end, work_groups, units.occupied()});
  if (!is_new) return found->second;
  const auto placement = std::make_shared<Placement>();
  ComputeUnits filled = units;
  std::vector<int> cus;
  for (int xcd = 0; xcd < xcds; ++xcd) {
    cus.clear();
    filled.place_all(xcd, needs, range, work_groups_of_xcd(work_groups, xcds, xcd), cus);
    placement->add(xcd, cus);
  }
  placement->beside_copies = static_cast<int>(std::ranges::count_if(
      placement->slots, [&](const auto& slot) { return units.residents(slot.xcd, slot.cu) > 0; }));
  found->second = placement;
  return placement;
}

}}  // namespace c3::gpu
