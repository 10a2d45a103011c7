#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "workloads/sampling/confidence.hpp"
#include "workloads/sampling/grouped_invocations.hpp"
#include "workloads/sampling/methods/method.hpp"

namespace c3 { inline namespace sampling {
namespace {

struct Part {
  Cluster members;
  ClusterStatistics statistics;
  double draws = 0.0;  ///< planned; may be 0 where nothing varies

  Seconds cost() const { return statistics.mean * draws; }
};

/// The draws from two clusters that cost least for an error of the sum of both: with N members of mean mu and
/// deviation sigma, min sum n mu subject to sum N^2 sigma^2 / n <= (error sum N mu / z)^2 has the solution
/// n = S N sigma / sqrt(mu) / (error sum N mu / z)^2, S = sum N sigma sqrt(mu).
void plan_together(std::array<Part, 2>& parts, const SampleRequest& request) {
  double spread = 0.0, total = 0.0;
  for (const Part& part : parts) {
    spread += static_cast<double>(part.statistics.count) * part.statistics.deviation.value *
              std::sqrt(part.statistics.mean.value);
    total += part.statistics.total().value;
  }
  const double allowed = request.error * total / normal_quantile(request.confidence);
  for (Part& part : parts) {
    const double own = static_cast<double>(part.statistics.count) * part.statistics.deviation.value;
    part.draws =
        own > 0.0 ? std::ceil(spread / (allowed * allowed) * own / std::sqrt(part.statistics.mean.value)) : 0.0;
  }
}

void divide(const KernelGroup& group, const SampleRequest& request, std::vector<PlannedCluster>& clusters) {
  const auto part_of = [](Cluster members) { return Part{members, statistics_of(members)}; };
  Part whole = part_of(group.members);
  whole.draws = std::ceil(draws_needed(whole.statistics.variation(), request.error, request.confidence));
  std::vector<Part> open{whole};
  while (!open.empty()) {
    const Part part = open.back();
    open.pop_back();
    const std::size_t shorter = part.cost().value > 0.0 ? two_means(part.members) : 0;
    if (shorter > 0) {
      std::array<Part, 2> parts{part_of(part.members.first(shorter)), part_of(part.members.subspan(shorter))};
      plan_together(parts, request);
      if (parts[0].cost() + parts[1].cost() <= part.cost()) {
        open.push_back(parts[1]);
        open.push_back(parts[0]);
        continue;
      }
    }
    const auto members = static_cast<double>(part.members.size());
    const auto samples = static_cast<std::size_t>(std::clamp(part.draws, 1.0, members));
    clusters.push_back({group.name, part.members, part.statistics, samples});
  }
}

/// STEM+ROOT: kernels by name; a cluster is divided by 2-means wherever the draws that its two parts take
/// together, planned jointly for the error asked for, cost no more than its own; without replacement.
/// Source: Chung et al., "Swift and trustworthy large-scale GPU simulation with fine-grained error modeling and
/// hierarchical clustering", MICRO 2025, doi 10.1145/3725843.3757107, and its code. As in the code, the error
/// holds for each kernel's time, and for their sum more often. Wrong when: a cluster's durations on the
/// machine that is simulated spread more than the given ones did; few draws come from a cluster with a long
/// tail.
SamplePlan plan_stem(const Invocations& invocations, const SampleRequest& request) {
  const GroupedInvocations grouped(invocations, GroupKey::name);
  SamplePlan plan{.method = kStem.name,
                  .draws = DrawRule::without_replacement,
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

const SamplingMethod kStem = {
    .name = "stem",
    .about = "clusters of 2-means by kernel, divided while that is cheaper (STEM+ROOT, MICRO 2025)",
    .plan = plan_stem};

}}  // namespace c3::sampling
