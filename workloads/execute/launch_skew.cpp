#include "workloads/execute/launch_skew.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/random.hpp"

namespace c3 { inline namespace workloads {

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

std::vector<Seconds> launch_dates(const Cluster& cluster, bool is_isolated) {
  const ClusterSetup& setup = cluster.setup();
  std::vector<Seconds> launches =
      launch_delays(cluster.spec().gpu.host.launch_skew, cluster.ranks(), setup.gpu.seed);
  if (setup.folded) std::swap(launches.front(), *std::ranges::max_element(launches));
  for (int rank = 0; rank < cluster.ranks() && !is_isolated; ++rank)
    launches[static_cast<std::size_t>(rank)] += cluster.condition(rank).late;
  if (!setup.classes) return launches;
  for (int rank = 0; rank < cluster.ranks(); ++rank) {
    Seconds& last = launches[static_cast<std::size_t>(cluster.stand_in(rank))];
    last = std::max(last, launches[static_cast<std::size_t>(rank)]);
  }
  return launches;
}

}}  // namespace c3::workloads
