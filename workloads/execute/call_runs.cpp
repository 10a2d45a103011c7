#include "workloads/execute/call_runs.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "engine/errors.hpp"
#include "workloads/program/joiners.hpp"

namespace c3 { inline namespace workloads {
namespace {

/// Empty where waiting for slots is a small part of what channels last.
std::string slots_text(const ChannelSlots& slots) {
  constexpr double kWorthTelling = 0.2;
  if (!(slots.waited > kWorthTelling * slots.lasted)) return {};
  std::string text = fmt::format("channels waited for free slots {:.1f}% of the time from launch to end",
                                 100.0 * slots.waited / slots.lasted);
  if (slots.crowded > kWorthTelling * slots.placed)
    text += fmt::format(
        "; {:.0f}% of them were placed beside another channel on one CU, because few CUs were free, and ran at "
        "{:.0f}% of the rate of a channel with a CU to itself",
        100.0 * slots.crowded / slots.placed, 100.0 * slots.crowded_rate / slots.crowded);
  return text;
}

}  // namespace

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
  const auto add = [&](std::string note) {
    if (!note.empty() && std::ranges::find(notes, note) == notes.end()) notes.push_back(std::move(note));
  };
  ChannelSlots slots;
  for (const CallId number : order_) {
    for (const auto& run : runs_[number].all()) {
      if (!run) continue;
      add(run->note());
      slots += run->slots();
    }
  }
  add(slots_text(slots));
  return notes;
}

}}  // namespace c3::workloads
