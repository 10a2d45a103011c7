#include "workloads/sampling/clusters.hpp"

#include <cmath>

namespace c3 { inline namespace sampling {

double ClusterStatistics::sample_variation() const {
  if (count < 2) return 0.0;
  const auto n = static_cast<double>(count);
  return variation() * std::sqrt(n / (n - 1.0));
}

ClusterStatistics statistics_of(Cluster cluster) {
  ClusterStatistics statistics{.count = cluster.size(), .mean = {}, .deviation = {}};
  if (cluster.empty()) return statistics;
  const auto n = static_cast<double>(cluster.size());
  if (cluster.front().duration == cluster.back().duration) {
    statistics.mean = cluster.front().duration;  // exactly, so that the deviation is exactly 0
    return statistics;
  }
  Seconds sum;
  for (const TimedInvocation& member : cluster)
    sum += member.duration;
  statistics.mean = sum / n;
  double squares = 0.0;
  for (const TimedInvocation& member : cluster) {
    const double distance = (member.duration - statistics.mean).value;
    squares += distance * distance;
  }
  statistics.deviation = Seconds{std::sqrt(squares / n)};
  return statistics;
}

std::size_t two_means(Cluster cluster) {
  if (cluster.size() < 2) return 0;
  const double mean = statistics_of(cluster).mean.value;
  const auto n = static_cast<double>(cluster.size());
  // With distances d from the common mean, the squared distances within both parts sum to the total less
  // S^2 (1/k + 1/(n - k)), where S is the sum of the first k distances: the best split has the largest such
  // term.
  double sum = 0.0, best = -1.0;
  std::size_t split = 0;
  for (std::size_t k = 1; k < cluster.size(); ++k) {
    sum += cluster[k - 1].duration.value - mean;
    if (cluster[k - 1].duration == cluster[k].duration) continue;  // equal ones stay together
    const auto left = static_cast<double>(k);
    const double gain = sum * sum * (1.0 / left + 1.0 / (n - left));
    if (gain > best) {
      best = gain;
      split = k;
    }
  }
  return split;
}

}}  // namespace c3::sampling
