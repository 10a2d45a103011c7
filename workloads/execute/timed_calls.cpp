#include "workloads/execute/timed_calls.hpp"

#include <fmt/format.h>

#include <tuple>

namespace c3::inline workloads {

TimedCalls::Meeting& TimedCalls::meeting(CallId call, int rank) {
  const CollectiveCall& what = program_.calls[call].what;
  const int group = what.groups ? group_number(*what.groups, rank) : 0;
  const auto known = meetings_.find({call, group});
  if (known != meetings_.end()) return known->second;
  const std::string& name = program_.names[program_.calls[call].name];
  const auto made =
      meetings_.try_emplace({call, group}, cluster_.simulation(), fmt::format("all members of {}", name));
  Meeting& its = made.first->second;
  its.missing = cluster_.setup().folded ? 1 : member_count(what, cluster_.ranks());
  return its;
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
  co_await simulation.sleep(lasts);
  simulation.end_activity(*activity);
}

}  // namespace c3::workloads
