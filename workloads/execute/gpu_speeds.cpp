#include "workloads/execute/gpu_speeds.hpp"

#include "engine/extremes.hpp"
#include "engine/random.hpp"

namespace c3 { inline namespace workloads {

std::vector<double> slower_gpus(double spread, int ranks, bool stands_for_others, std::uint64_t seed) {
  if (spread <= 0.0) return {};
  std::vector<double> slower(static_cast<std::size_t>(ranks),
                             1.0 + (stands_for_others ? spread * expected_largest_normal(ranks) : 0.0));
  if (stands_for_others) return slower;
  const RandomStream random(seed, "speed of GPUs");
  for (std::size_t rank = 0; rank < slower.size(); ++rank)
    slower[rank] += spread * random.normal(rank);
  return slower;
}

}}  // namespace c3::workloads
