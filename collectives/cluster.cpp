#include "collectives/cluster.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/joined_numbers.hpp"
#include "collectives/rank_conditions.hpp"
#include "engine/errors.hpp"

namespace c3 { inline namespace collectives {
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
                     setup.classes.get(), setup.folding, setup.schedules ? setup.schedules->links : nullptr,
                     link_shares(conditions_), setup.reaches_hosts}),
      schedules_(setup.classes ? ScheduleStore(spec, interconnect_, *setup.classes, setup.schedules)
                               : ScheduleStore(spec, setup.folded)) {
  for (int node = 0; node < (setup.folded ? 1 : spec.nodes); ++node)
    hosts_.emplace_back(simulation);
  const int simulated = setup.folded ? 1 : setup.classes ? setup.classes->classes() : spec.ranks();
  for (int place = 0; place < simulated; ++place)
    gpus_.push_back(std::make_unique<Gpu>(simulation, spec.gpu, setup_.gpu, simulated_rank(place),
                                          pace(simulated_rank(place))));
}

std::shared_ptr<const FoldedSchedules> Cluster::folded_schedules() const {
  if (setup_.schedules) return setup_.schedules;  // their links refer to their own classes
  std::vector<KnownSchedule> in_order = schedules_.in_order();
  if (in_order.empty()) return nullptr;
  return std::make_shared<const FoldedSchedules>(
      FoldedSchedules{setup_.classes, interconnect_.folded_links(), std::move(in_order)});
}

GpuPace Cluster::pace(int rank) const {
  return {.stated = condition(rank).factor,
          .drawn = setup_.slower.empty() ? 1.0 : setup_.slower[static_cast<std::size_t>(rank)]};
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

// Groups that share a class of ranks begin and end together, whatever else is in them.
GroupClasses Cluster::make_group_classes(const CollectiveCall& call) const {
  const RankPartition& classes = *setup_.classes;
  const auto class_of = [&](int rank) { return static_cast<std::size_t>(classes.class_of(rank)); };
  JoinedNumbers joined(static_cast<std::size_t>(classes.classes()));
  std::vector<std::vector<int>> groups;
  for (const CollectiveCall& of_group : calls_by_group(call, ranks())) {
    groups.push_back(members_of(of_group, ranks()));
    for (const int rank : groups.back())
      joined.join(class_of(groups.back().front()), class_of(rank));
  }
  std::map<std::size_t, std::size_t> numbers;  // indexed by what the groups' classes are joined to
  std::vector<std::vector<std::vector<int>>> of_classes;
  GroupClasses made;
  for (std::vector<int>& members : groups) {
    const std::size_t number =
        numbers.try_emplace(joined.find(class_of(members.front())), of_classes.size()).first->second;
    if (number == of_classes.size()) of_classes.emplace_back();
    made.number_of.push_back(number);
    of_classes[number].push_back(std::move(members));
  }
  for (auto& of_class : of_classes)
    made.all.push_back(std::make_shared<const std::vector<std::vector<int>>>(std::move(of_class)));
  return made;
}

}}  // namespace c3::collectives
