#include <algorithm>
#include <cmath>
#include <vector>

#include "workloads/sampling/confidence.hpp"
#include "workloads/sampling/grouped_invocations.hpp"
#include "workloads/sampling/methods/method.hpp"

namespace c3 { inline namespace sampling {
namespace {

constexpr double kMostDraws = 50.0;      // a cluster that would take more is divided
constexpr std::size_t kLeastDraws = 30;  // for the central limit theorem

void divide(const KernelGroup& group, const SampleRequest& request, std::vector<PlannedCluster>& clusters) {
  std::vector<Cluster> open{group.members};
  while (!open.empty()) {
    const Cluster cluster = open.back();
    open.pop_back();
    const ClusterStatistics statistics = statistics_of(cluster);
    const double draws =
        std::max(1.0, draws_needed(statistics.sample_variation(), request.error, request.confidence));
    const std::size_t shorter = draws < kMostDraws ? 0 : two_means(cluster);
    if (shorter == 0) {
      const auto samples = static_cast<std::size_t>(std::ceil(std::min(draws, 1e9)));
      clusters.push_back({group.name, cluster, statistics, std::max(samples, kLeastDraws)});
      continue;
    }
    open.push_back(cluster.subspan(shorter));
    open.push_back(cluster.first(shorter));
  }
}

/// Allegro: kernels by the name before their arguments; the draws that a cluster takes for the error asked
/// for, by the central limit theorem; a cluster that takes 50 or more is divided by 2-means, and its parts
/// likewise; at least 30 draws each, with replacement.
/// Source: Chung et al., "Allegro: GPU simulation acceleration for machine learning workloads", MLArchSys 2024,
/// and its code. Ours differs in one thing: a cluster of no more members than draws is simulated whole.
/// Every cluster's mean is within the error with the confidence asked for, so the sum is within it more often
/// than that. Wrong when: a cluster's durations on the machine that is simulated spread more than the given
/// ones did.
SamplePlan plan_allegro(const Invocations& invocations, const SampleRequest& request) {
  const GroupedInvocations grouped(invocations, GroupKey::name_before_args);
  SamplePlan plan{.method = kAllegro.name,
                  .draws = DrawRule::with_replacement,
                  .clusters = {},
                  .bound = request.error,
                  .confidence = request.confidence,
                  .storage = grouped.members()};
  for (const KernelGroup& group : grouped.groups())
    divide(group, request, plan.clusters);
  keep_margin(plan);
  return plan;
}

}  // namespace

const SamplingMethod kAllegro = {
    .name = "allegro",
    .about = "30 or more draws from each cluster of 2-means by kernel (MLArchSys 2024)",
    .plan = plan_allegro};

}}  // namespace c3::sampling
