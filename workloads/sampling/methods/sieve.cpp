#include <vector>

#include "workloads/sampling/grouped_invocations.hpp"
#include "workloads/sampling/methods/method.hpp"

namespace c3 { inline namespace sampling {
namespace {

constexpr double kMostVariation = 0.4;

/// Like Sieve: strata by kernel, divided until their coefficient of variation is below 0.4, of which the first
/// invocation stands for all. No bound.
/// Source: Naderan-Tahan et al., "Sieve: stratified GPU-compute workload sampling", ISPASS 2023, which takes
/// counts of instructions, and divides where their density has a minimum. Tables of durations have no counts,
/// so that durations stand in for them, and 2-means divides.
SamplePlan plan_sieve(const Invocations& invocations, const SampleRequest& request) {
  const GroupedInvocations grouped(invocations, GroupKey::name);
  SamplePlan plan{.method = kSieve.name,
                  .draws = DrawRule::first,
                  .clusters = {},
                  .bound = std::nullopt,
                  .confidence = request.confidence,
                  .storage = grouped.members()};
  for (const KernelGroup& group : grouped.groups()) {
    std::vector<Cluster> open{group.members};
    while (!open.empty()) {
      const Cluster stratum = open.back();
      open.pop_back();
      const ClusterStatistics statistics = statistics_of(stratum);
      if (statistics.variation() < kMostVariation) {
        plan.clusters.push_back({.kernel = group.name, .members = stratum, .statistics = statistics});
        continue;
      }
      const std::size_t shorter = two_means(stratum);
      open.push_back(stratum.subspan(shorter));
      open.push_back(stratum.first(shorter));
    }
  }
  return plan;
}

}  // namespace

const SamplingMethod kSieve = {
    .name = "sieve",
    .about = "the first invocation of each stratum by kernel (like Sieve, ISPASS 2023)",
    .plan = plan_sieve};

}}  // namespace c3::sampling
