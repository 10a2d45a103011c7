#include "workloads/execute/call_runs.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "engine/errors.hpp"
#include "workloads/program/joiners.hpp"

namespace c3::inline workloads {

CallRuns::CallRuns(Cluster& cluster, const Program& program, const std::string& strategy,
                   const std::function<bool(const Call&)>& takes_place, const PlanOf& plan_of)
    : order_(calls_by_stream(program)), runs_(program.calls.size()) {
  const Joiners joiners(program);
  for (const CallId number : order_) {
    const Call& call = program.calls[number];
    if (!takes_place(call)) continue;
    try {
      runs_[number] = GroupRuns(
          cluster, call.what, [&](const std::vector<int>& group) { return joiners.any(number, group); },
          [&](const CollectiveCall& of_group) { return plan_of(number, of_group); });
    } catch (const InfeasibleError& error) {
      throw InfeasibleError(
          fmt::format("strategy '{}', stream '{}': {}", strategy, program.streams[call.stream], error.what()));
    }
  }
}

std::vector<std::string> CallRuns::notes() const {
  std::vector<std::string> notes;
  for (const CallId number : order_) {
    for (const auto& run : runs_[number].all()) {
      std::string note = run ? run->note() : std::string();
      if (!note.empty() && std::ranges::find(notes, note) == notes.end()) notes.push_back(std::move(note));
    }
  }
  return notes;
}

}  // namespace c3::workloads
