#include <algorithm>
#include <cmath>

#include "workloads/sampling/methods/all_together.hpp"

namespace c3 { inline namespace sampling {
namespace {

constexpr std::size_t kMostClusters = 20;

/// What the first invocation of each cluster says of the total.
Seconds projection(const std::vector<PlannedCluster>& clusters) {
  Seconds sum;
  for (const PlannedCluster& cluster : clusters) {
    const auto& first = *std::ranges::min_element(cluster.members, {}, &TimedInvocation::invocation);
    sum += first.duration * static_cast<double>(cluster.members.size());
  }
  return sum;
}

double spread(const PlannedCluster& cluster) {
  const double deviation = cluster.statistics.deviation.value;
  return static_cast<double>(cluster.members.size()) * deviation * deviation;
}

/// Like principal kernel analysis: up to 20 clusters, whatever the kernels, of which the first invocation
/// stands for all; the number of clusters whose projection is nearest is taken. No bound.
/// Source: Avalos Baddouh et al., "Principal kernel analysis", MICRO 2021, which clusters hardware counters by
/// k-means. Tables of durations have none, so that durations stand in for them, and clusters come from dividing
/// the one with the largest sum of squares by 2-means.
SamplePlan plan_pka(const Invocations& invocations, const SampleRequest& request) {
  SamplePlan plan = plan_all_together(kPka.name, DrawRule::first, invocations, request);
  plan.clusters.front().samples = 1;
  const Seconds total = plan.total();
  const auto error = [&total](const std::vector<PlannedCluster>& clusters) {
    return std::abs((projection(clusters) - total).value);
  };
  std::vector<PlannedCluster> clusters = plan.clusters;
  while (clusters.size() < kMostClusters) {
    const auto widest = std::ranges::max_element(clusters, {}, spread);
    const std::size_t shorter = two_means(widest->members);
    if (shorter == 0) break;
    const Cluster longer = widest->members.subspan(shorter);
    const Cluster rest = widest->members.first(shorter);
    *widest = {.kernel = {}, .members = rest, .statistics = statistics_of(rest)};
    clusters.push_back({.kernel = {}, .members = longer, .statistics = statistics_of(longer)});
    if (error(clusters) < error(plan.clusters)) plan.clusters = clusters;
  }
  return plan;
}

}  // namespace

const SamplingMethod kPka = {
    .name = "pka",
    .about = "the first invocation of each of up to 20 clusters (like principal kernel analysis)",
    .plan = plan_pka};

}}  // namespace c3::sampling
