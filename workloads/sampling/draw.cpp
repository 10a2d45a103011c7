#include "workloads/sampling/draw.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "engine/random.hpp"

namespace c3 { inline namespace sampling {
namespace {

/// Positions in a cluster, with how often each was drawn.
using Draws = std::map<std::size_t, std::size_t>;

std::size_t below(const RandomStream& random, std::uint64_t index, std::size_t limit) {
  const auto number = static_cast<std::size_t>(random.uniform(index) * static_cast<double>(limit));
  return std::min(number, limit - 1);
}

Draws draw_with_replacement(const PlannedCluster& cluster, const RandomStream& random) {
  Draws draws;
  for (std::size_t i = 0; i < cluster.samples; ++i)
    ++draws[below(random, i, cluster.members.size())];
  return draws;
}

/// Uses Floyd's algorithm: Bentley and Floyd, "A sample of brilliance", CACM 30(9), 1987.
Draws draw_without_replacement(const PlannedCluster& cluster, const RandomStream& random) {
  Draws draws;
  const std::size_t count = cluster.members.size();
  for (std::size_t last = count - cluster.samples; last < count; ++last) {
    const std::size_t position = below(random, last, last + 1);
    ++draws[draws.contains(position) ? last : position];
  }
  return draws;
}

Draws draw_first(const PlannedCluster& cluster) {
  std::vector<std::pair<std::uint32_t, std::size_t>> order;
  order.reserve(cluster.members.size());
  for (std::size_t i = 0; i < cluster.members.size(); ++i)
    order.emplace_back(cluster.members[i].invocation, i);
  const auto end = order.begin() + static_cast<std::ptrdiff_t>(cluster.samples);
  std::ranges::nth_element(order, end - 1);
  Draws draws;
  for (auto one = order.begin(); one != end; ++one)
    draws.emplace(one->second, 1);
  return draws;
}

Draws draws_of(const PlannedCluster& cluster, DrawRule rule, std::uint64_t seed) {
  if (cluster.is_whole()) {
    Draws all;
    for (std::size_t i = 0; i < cluster.members.size(); ++i)
      all.emplace_hint(all.end(), i, 1);
    return all;
  }
  if (rule == DrawRule::first) return draw_first(cluster);
  // Clusters of one kernel differ in their shortest member.
  const RandomStream random(seed, stable_hash(cluster.kernel) + cluster.members.front().invocation);
  return rule == DrawRule::with_replacement ? draw_with_replacement(cluster, random)
                                            : draw_without_replacement(cluster, random);
}

}  // namespace

double DrawnSample::error(Seconds total) const { return std::abs(estimate / total - 1.0); }

DrawnSample draw(const SamplePlan& plan, std::uint64_t seed) {
  DrawnSample sample;
  for (std::size_t at = 0; at < plan.clusters.size(); ++at) {
    const PlannedCluster& cluster = plan.clusters[at];
    const auto drawn = static_cast<double>(std::min(cluster.samples, cluster.members.size()));
    for (const auto& [position, times] : draws_of(cluster, plan.draws, seed)) {
      const TimedInvocation& member = cluster.members[position];
      const double weight = static_cast<double>(cluster.members.size()) * static_cast<double>(times) / drawn;
      sample.chosen.push_back({member.invocation, static_cast<std::uint32_t>(at), member.duration, weight});
      sample.estimate += member.duration * weight;
      sample.cost += member.duration;
    }
  }
  std::ranges::sort(sample.chosen, {}, &ChosenInvocation::invocation);
  return sample;
}

}}  // namespace c3::sampling
