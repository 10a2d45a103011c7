#include "workloads/execute/launch_skew.hpp"

#include <algorithm>
#include <cmath>

#include "engine/random.hpp"

namespace c3::inline workloads {

std::vector<Seconds> launch_delays(Seconds skew, int ranks, std::uint64_t seed) {
  std::vector<Seconds> delays(static_cast<std::size_t>(ranks));
  if (skew.value <= 0.0) return delays;
  const RandomStream random(seed, "launch skew");
  for (std::size_t rank = 0; rank < delays.size(); ++rank)
    delays[rank] = skew * std::abs(random.normal(rank));
  const Seconds first = *std::ranges::min_element(delays);
  for (Seconds& delay : delays)
    delay -= first;
  return delays;
}

}  // namespace c3::workloads
