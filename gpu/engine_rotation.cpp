#include "gpu/engine_rotation.hpp"

#include <algorithm>
#include <stdexcept>

namespace c3 { inline namespace gpu {

EngineRotation::EngineRotation(const GpuSpec& gpu)
    : engines_(gpu.hypotheses.strict_rotation ? std::min(gpu.dispatch.shader_engines, gpu.compute.cus_per_xcd)
                                              : 1),
      xcds_(static_cast<std::size_t>(gpu.compute.xcds)) {}

EngineRotation::Grid& EngineRotation::of(const DispatchClient& grid) {
  const auto found = std::ranges::find(grids_, &grid, &Grid::client);
  if (found == grids_.end()) throw std::logic_error("EngineRotation: a grid that was not begun");
  return *found;
}

void EngineRotation::begin(const DispatchClient& grid, std::int64_t work_groups) {
  if (is_on()) grids_.push_back({&grid, work_groups, std::vector<std::int64_t>(xcds_, 0)});
}

bool EngineRotation::end(const DispatchClient& grid, std::int64_t work_groups) {
  if (!is_on()) return false;
  Grid& its = of(grid);
  its.work_groups -= work_groups;
  if (its.work_groups > 0) return false;
  const bool was_strict = is_strict();
  std::erase_if(grids_, [&grid](const Grid& each) { return each.client == &grid; });
  return was_strict && !is_strict();
}

// A mask narrower than the engines leaves some of them without a CU: those are passed over.
int EngineRotation::place(ComputeUnits& units, const DispatchClient& grid, int xcd, const WorkGroupNeeds& needs,
                          CuRange range) {
  std::int64_t& next = of(grid).next[static_cast<std::size_t>(xcd)];
  const auto engine_of = [&](std::int64_t turn) { return static_cast<int>(turn % engines_); };
  const auto has_cu = [&](int engine) {
    return (engine - range.begin % engines_ + engines_) % engines_ < range.size();
  };
  if (range.size() < 1) return -1;
  while (!has_cu(engine_of(next)))
    ++next;
  const int cu = units.place_in_engine(xcd, needs, range, engine_of(next), engines_);
  if (cu >= 0) ++next;
  return cu;
}

void EngineRotation::pass(const DispatchClient& grid, int xcd, std::int64_t work_groups) {
  if (is_on()) of(grid).next[static_cast<std::size_t>(xcd)] += work_groups;
}

}}  // namespace c3::gpu
