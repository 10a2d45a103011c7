#include "gpu/hbm_rate.hpp"

#include <algorithm>

#include "engine/flow.hpp"

namespace c3 { inline namespace gpu {

BytesPerSecond hbm_capacity(const HbmSpec& hbm, double written_share) {
  const double w = std::clamp(written_share, 0.0, 1.0);
  const double turnaround = 1.0 / hbm.copy.value - 0.5 / hbm.read.value - 0.5 / hbm.write.value;
  return {1.0 / ((1.0 - w) / hbm.read.value + w / hbm.write.value + 4.0 * w * (1.0 - w) * turnaround)};
}

double hbm_rate_alone(const HbmSpec& hbm, Bytes read, Bytes written) {
  const Bytes total = read + written;
  if (total.value <= 0.0) return kUnbounded;
  return hbm_capacity(hbm, written / total).value / total.value;
}

}}  // namespace c3::gpu
