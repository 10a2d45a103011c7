#include "gpu/kernels/vector/vector_traffic.hpp"

#include <algorithm>
#include <cmath>

namespace c3 { inline namespace gpu {
namespace {

/// Share of accesses that miss a cache when \p ratio of its capacity is in use: 0 well below 1, 1 well above.
double missed_of(double ratio, double sharpness) {
  return 1.0 / (1.0 + std::pow(std::max(ratio, 1e-9), -sharpness));  // 1 where there is no cache
}

}  // namespace

Traffic VectorTraffic::per_work_group(const CacheState& state) const {
  const double first =
      state.cold || loads_.cold ? 1.0 : missed_of(loads_.tensors / state.llc_size, loads_.sharpness);
  Traffic traffic;
  traffic.l2 = loads_.once + loads_.again;
  traffic.hbm = loads_.once * first + loads_.again * again_missed(state);
  traffic.llc = traffic.hbm;
  traffic.found = loads_.once * (1.0 - first);
  traffic.stores_to_hbm = first;
  return traffic;
}

double VectorTraffic::again_missed(const CacheState& state) const {
  if (loads_.again.value <= 0.0) return 0.0;
  const auto resident = static_cast<double>(state.resident);
  const double cus = std::ceil(resident / loads_.work_groups_per_cu);
  const Bytes kept = loads_.l1 * cus + state.l2_size * (loads_.l2_kept * state.xcds / loads_.l2_partitions);
  return missed_of(loads_.row_cache * resident / kept, loads_.sharpness);
}

}}  // namespace c3::gpu
