#include "gpu/kernels/gemm/streamed_traffic.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace c3 { inline namespace gpu {
namespace {

struct Relief {
  double cus_taken;  ///< share of the GPU's
  double less;       ///< traffic, at best
};
constexpr std::array kRelief = {Relief{0.0, 0.0}, Relief{8.0 / 304, 0.10}, Relief{32.0 / 304, 0.05},
                                Relief{64.0 / 304, 0.10}};

/// Linear between what was published, and constant beyond.
double relief_of(double cus_taken) {
  for (std::size_t i = 1; i < kRelief.size(); ++i) {
    const Relief& before = kRelief.at(i - 1);
    const Relief& after = kRelief.at(i);
    if (cus_taken <= after.cus_taken)
      return std::lerp(before.less, after.less,
                       (cus_taken - before.cus_taken) / (after.cus_taken - before.cus_taken));
  }
  return kRelief.back().less;
}

}  // namespace

Traffic StreamedTraffic::per_work_group(const CacheState& state) const {
  Traffic traffic = tiled_->per_work_group(state);
  const Bytes alone = spec_.miss * traffic.l2;
  if (alone.value <= 0.0) return traffic;
  const Bytes polluted = alone / std::pow(own_share(state, alone), spec_.pollution);
  const Bytes missed = std::min(polluted, traffic.l2) * (1.0 - spec_.relief * relief_of(state.cus_taken));
  traffic.hbm = std::max(traffic.hbm, missed);
  traffic.llc = std::max(traffic.llc, traffic.hbm);
  return traffic;
}

// What it inserts when nobody hinders it. The solver's own load would be 0 for the first work groups.
double StreamedTraffic::own_share(const CacheState& state, Bytes hbm) const {
  if (state.llc_intruder.value <= 0.0) return 1.0;
  const Bytes resident = hbm * static_cast<double>(state.resident);
  const BytesPerSecond own = std::min(resident / state.work_group_time, fastest_);
  return own / (own + state.llc_intruder);
}

}}  // namespace c3::gpu
