#include "collectives/cluster.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "collectives/rank_conditions.hpp"
#include "engine/errors.hpp"

namespace c3::inline collectives {
namespace {

const ClusterSpec& checked(const ClusterSpec& spec, const ClusterSetup& setup) {
  constexpr int kMostRanks = 200'000;  // each needs some ten kB
  if (setup.folded || setup.classes || spec.ranks() <= kMostRanks) return spec;
  throw InfeasibleError(
      fmt::format("{} ranks differ and must be simulated one by one, which is limited to {} ranks",
                  spec.ranks(), kMostRanks));
}

std::vector<LinkShares> link_shares(const std::vector<RankCondition>& conditions) {
  std::vector<LinkShares> shares;
  shares.reserve(conditions.size());
  for (const RankCondition& condition : conditions)
    shares.push_back({.links = condition.links, .nics = condition.nics});
  return shares;
}

}  // namespace

Cluster::Cluster(Simulation& simulation, const ClusterSpec& spec, const ClusterSetup& setup)
    : simulation_(simulation),
      spec_(checked(spec, setup)),
      setup_(setup),
      conditions_(rank_conditions(spec)),
      interconnect_(simulation.fluid(), spec.network(),
                    {setup.gpu.streams, setup.gpu.isolation.has(SharedResource::links), setup.folded,
                     setup.classes.get(), setup.folding, link_shares(conditions_)}),
      schedules_(setup.classes ? ScheduleStore(spec, interconnect_, *setup.classes)
                               : ScheduleStore(spec, setup.folded)) {
  for (int node = 0; node < (setup.folded ? 1 : spec.nodes); ++node)
    hosts_.emplace_back(simulation);
  const int simulated = setup.folded ? 1 : setup.classes ? setup.classes->classes() : spec.ranks();
  for (int place = 0; place < simulated; ++place)
    gpus_.push_back(std::make_unique<Gpu>(simulation, spec.gpu, setup_.gpu, simulated_rank(place),
                                          condition(simulated_rank(place)).factor));
}

RankCondition Cluster::condition(int rank) const {
  return conditions_.empty() ? RankCondition() : conditions_[static_cast<std::size_t>(rank)];
}

const GroupClasses& Cluster::group_classes(const CollectiveCall& call) {
  const auto found = std::ranges::find_if(group_classes_, [&](const auto& known) {
    return known.first.ranks == call.ranks && known.first.groups == call.groups;
  });
  if (found != group_classes_.end()) return found->second;
  return group_classes_.emplace_back(call, make_group_classes(call)).second;
}

GroupClasses Cluster::make_group_classes(const CollectiveCall& call) const {
  std::map<std::vector<int>, std::size_t> numbers;
  std::vector<std::vector<std::vector<int>>> groups;
  GroupClasses made;
  for (const CollectiveCall& of_group : calls_by_group(call, ranks())) {
    std::vector<int> members = members_of(of_group, ranks());
    std::vector<int> content;
    content.reserve(members.size());
    for (const int rank : members)
      content.push_back(setup_.classes->class_of(rank));
    std::ranges::sort(content);
    const std::size_t number = numbers.try_emplace(std::move(content), groups.size()).first->second;
    if (number == groups.size()) groups.emplace_back();
    made.number_of.push_back(number);
    groups[number].push_back(std::move(members));
  }
  for (auto& of_class : groups)
    made.all.push_back(std::make_shared<const std::vector<std::vector<int>>>(std::move(of_class)));
  return made;
}

}  // namespace c3::collectives
