#include "workloads/execute/step_breakdown.hpp"

#include <algorithm>
#include <cmath>

#include "engine/intervals.hpp"
#include "gpu/kernels/operator_table.hpp"

namespace c3::inline workloads {
namespace {

Interval picoseconds(Seconds begin, Seconds end) {
  return {std::llround(begin.value * 1e12), std::llround(end.value * 1e12)};
}

Seconds length_of(const Intervals& set) { return Seconds{static_cast<double>(length(set)) * 1e-12}; }

}  // namespace

std::string class_of(const Program& program, const Operation& operation) {
  if (const Operator* op = kernel_of(operation)) return std::string(group_of(*op));
  if (std::holds_alternative<TimedKernel>(operation.work)) return "timed";
  if (std::holds_alternative<Exchange>(operation.work))
    return std::string(name_of(CollectiveKind::send_receive));
  if (const auto* copy = std::get_if<HostCopy>(&operation.work))
    return copy->way == HostWay::within ? std::string(kHostWork) : std::string(kHostCopies);
  if (const CollectiveCall* call = program.call_of(operation)) return std::string(name_of(call->kind));
  return {};
}

bool is_collective_class(std::string_view name) {
  return std::ranges::any_of(kCollectiveKinds, [&](CollectiveKind kind) { return name_of(kind) == name; });
}

std::optional<double> StepBreakdown::hidden_share() const {
  if (communication <= Seconds{}) return std::nullopt;
  return 1.0 - exposed / communication;
}

StepBreakdown step_breakdown(const std::vector<TimedOperation>& operations, Seconds time) {
  std::vector<Interval> kernels, collectives, without_messages;
  StepBreakdown times;
  for (const TimedOperation& timed : operations) {
    const Interval its = picoseconds(timed.begin, timed.end);
    const bool moves = is_collective_class(timed.operator_class) || timed.operator_class == kHostCopies;
    if (timed.operator_class != kHostWork) (moves ? collectives : kernels).push_back(its);
    if (timed.operator_class != name_of(CollectiveKind::send_receive)) without_messages.push_back(its);
    auto found = std::ranges::find(times.classes, timed.operator_class, &ClassTime::name);
    if (found == times.classes.end())
      found = times.classes.insert(found, {.name = timed.operator_class, .time = {}});
    found->time += timed.end - timed.begin;
    found->count += 1.0;
  }
  const Intervals busy = united(std::move(kernels));
  const Intervals moving = united(std::move(collectives));
  const Intervals whole = {picoseconds({}, time)};
  const Seconds both = length_of(intersection(busy, moving));
  times.kernels = length_of(busy);
  times.communication = length_of(moving);
  times.exposed = times.communication - both;
  times.idle = length_of(whole) - (times.kernels + times.exposed);
  times.bubble = length_of(whole) - length_of(united(std::move(without_messages)));
  return times;
}

}  // namespace c3::workloads
