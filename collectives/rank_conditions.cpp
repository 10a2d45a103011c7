#include "collectives/rank_conditions.hpp"

#include <algorithm>
#include <utility>

namespace c3 { inline namespace collectives {
namespace {

/// GPUs that share a NIC are neighbours: each has as good a one as the other.
void share_nics(const ClusterSpec& cluster, std::vector<RankCondition>& conditions) {
  const int gpus = cluster.node.gpus;
  const auto first_nic = [&](int gpu) { return nics_of(gpu, gpus, cluster.fabric->nics_per_node).first; };
  for (int node = 0; node < cluster.nodes; ++node) {
    for (int begin = 0, end = 0; begin < gpus; begin = end) {
      double worst = 1.0;
      const auto nics = [&](int gpu) -> double& {
        return conditions[static_cast<std::size_t>(node * gpus + gpu)].nics;
      };
      for (; end < gpus && first_nic(end) == first_nic(begin); ++end)
        worst = std::min(worst, nics(end));
      for (int gpu = begin; gpu < end; ++gpu)
        nics(gpu) = worst;
    }
  }
}

}  // namespace

std::vector<RankCondition> rank_conditions(const ClusterSpec& cluster) {
  if (cluster.stragglers.empty()) return {};
  std::vector<RankCondition> conditions(static_cast<std::size_t>(cluster.ranks()));
  for (const Straggler& straggler : cluster.stragglers) {
    for (const int rank : straggler.ranks)
      conditions.at(static_cast<std::size_t>(rank)) = straggler.condition;
  }
  const RankCondition sound;
  if (std::ranges::all_of(conditions, [&](const RankCondition& condition) { return condition == sound; }))
    return {};
  if (cluster.fabric && cluster.nodes > 1) share_nics(cluster, conditions);
  return conditions;
}

std::string straggler_name(const ClusterSpec& cluster, int rank) {
  const auto found = std::ranges::find_if(cluster.stragglers, [rank](const Straggler& straggler) {
    return straggler.condition != RankCondition() &&
           std::ranges::find(straggler.ranks, rank) != straggler.ranks.end();
  });
  return found == cluster.stragglers.end() ? std::string() : found->name;
}

std::vector<std::uint32_t> numbered_conditions(const ClusterSpec& cluster) {
  const std::vector<RankCondition> conditions = rank_conditions(cluster);
  if (conditions.empty()) return {};
  const auto count = static_cast<std::uint32_t>(cluster.stragglers.size());
  std::vector<std::uint32_t> stated(conditions.size(),
                                    count);  // indexed by rank: position of what is stated of it
  for (std::uint32_t i = 0; i < count; ++i) {
    if (cluster.stragglers[i].condition == RankCondition()) continue;
    for (const int rank : cluster.stragglers[i].ranks)
      stated[static_cast<std::size_t>(rank)] = i;
  }
  std::vector<std::pair<std::uint32_t, RankCondition>> known;
  std::vector<std::uint32_t> numbers;
  for (std::size_t rank = 0; rank < conditions.size(); ++rank) {
    const std::pair statement(stated[rank], conditions[rank]);
    const auto found = std::ranges::find(known, statement);
    numbers.push_back(static_cast<std::uint32_t>(found - known.begin()));
    if (found == known.end()) known.push_back(statement);
  }
  return numbers;
}

bool is_symmetric(const ClusterSpec& cluster) {
  return is_symmetric(cluster.network()) && rank_conditions(cluster).empty();
}

}}  // namespace c3::collectives
