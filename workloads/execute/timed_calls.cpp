#include "workloads/execute/timed_calls.hpp"

#include <fmt/format.h>

#include <set>
#include <vector>

namespace c3 { inline namespace workloads {

TimedCalls::Meeting& TimedCalls::meeting(CallId call, int rank) {
  const CollectiveCall& what = program_.calls[call].what;
  auto group = static_cast<std::size_t>(what.groups ? group_number(*what.groups, rank) : 0);
  if (cluster_.setup().classes) group = cluster_.group_classes(what).number_of[group];
  const auto known = meetings_.find({call, group});
  if (known != meetings_.end()) return known->second;
  const std::string& name = program_.names[program_.calls[call].name];
  const auto made =
      meetings_.try_emplace({call, group}, cluster_.simulation(), fmt::format("all members of {}", name));
  Meeting& its = made.first->second;
  its.missing = simulated_members(what, group);
  return its;
}

int TimedCalls::simulated_members(const CollectiveCall& what, std::size_t group) {
  if (cluster_.setup().folded) return 1;
  if (!cluster_.setup().classes) return member_count(what, cluster_.ranks());
  std::set<int> simulated;
  for (const std::vector<int>& members : *cluster_.group_classes(what).all[group]) {
    for (const int member : members)
      simulated.insert(cluster_.stand_in(member));
  }
  return static_cast<int>(simulated.size());
}

Task TimedCalls::join(CallId call, int rank, int stream, Seconds lasts, ActivityId* activity,
                      ActivityId parent) {
  Simulation& simulation = cluster_.simulation();
  *activity = simulation.begin_activity({.name = program_.names[program_.calls[call].name],
                                         .kind = ActivityKind::collective,
                                         .gpu = rank,
                                         .stream = stream,
                                         .parent = parent});
  Meeting& its = meeting(call, rank);
  if (--its.missing == 0) its.complete.set();
  co_await its.complete;
  // A part of its own, as a collective's channels are: until then it only waited.
  const ActivityId part = simulation.begin_activity({.name = program_.names[program_.calls[call].name],
                                                     .kind = ActivityKind::channel,
                                                     .gpu = rank,
                                                     .stream = stream,
                                                     .parent = *activity});
  co_await simulation.sleep(lasts);
  simulation.end_activity(part);
  simulation.end_activity(*activity);
}

}}  // namespace c3::workloads
