#include "workloads/sampling/plan.hpp"

#include <algorithm>
#include <cmath>

#include "workloads/sampling/confidence.hpp"

namespace c3 { inline namespace sampling {

Seconds SamplePlan::total() const {
  Seconds total;
  for (const PlannedCluster& cluster : clusters)
    total += cluster.statistics.total();
  return total;
}

std::size_t SamplePlan::invocations() const {
  std::size_t count = 0;
  for (const PlannedCluster& cluster : clusters)
    count += cluster.members.size();
  return count;
}

std::size_t SamplePlan::samples() const {
  std::size_t count = 0;
  for (const PlannedCluster& cluster : clusters)
    count += std::min(cluster.samples, cluster.members.size());
  return count;
}

Seconds SamplePlan::expected_cost() const {
  Seconds cost;
  for (const PlannedCluster& cluster : clusters)
    cost += cluster.statistics.mean * static_cast<double>(std::min(cluster.samples, cluster.members.size()));
  return cost;
}

std::optional<double> SamplePlan::expected_error() const {
  if (draws == DrawRule::first) return std::nullopt;
  double variance = 0.0;
  for (const PlannedCluster& cluster : clusters) {
    if (cluster.is_whole()) continue;
    const auto members = static_cast<double>(cluster.members.size());
    const auto samples = static_cast<double>(cluster.samples);
    // Without replacement the last members are known once the others are drawn.
    const double unknown = draws == DrawRule::without_replacement ? (members - samples) / (members - 1.0) : 1.0;
    const double error = members * cluster.statistics.deviation.value;
    variance += error * error / samples * unknown;
  }
  const Seconds whole = total();
  if (whole.value <= 0.0) return 0.0;
  return normal_quantile(confidence) * std::sqrt(variance) / whole.value;
}

void keep_margin(SamplePlan& plan) {
  const double allowed = kFilledBound * plan.bound.value();
  const double expected = plan.expected_error().value();
  if (expected <= allowed) return;
  const double more = (expected / allowed) * (expected / allowed);
  for (PlannedCluster& cluster : plan.clusters)
    cluster.samples = static_cast<std::size_t>(std::ceil(static_cast<double>(cluster.samples) * more));
}

}}  // namespace c3::sampling
