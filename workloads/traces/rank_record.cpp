#include "workloads/traces/rank_record.hpp"

#include <algorithm>
#include <utility>

namespace c3 { inline namespace traces {
namespace {

std::vector<RecordedStep> steps_of(const Trace& trace) {
  std::vector<RecordedStep> steps;
  for (const TraceEvent& range : trace.annotations) {
    const std::string& name = trace.name_of(range);
    if (name.starts_with("ProfilerStep"))
      steps.push_back({.name = name, .thread = range.track, .start = range.start, .end = range.end()});
  }
  return steps;
}

/// One step, from the first event of the busiest thread to its last one.
std::vector<RecordedStep> whole_trace(const Trace& trace, const TraceJoin& join) {
  const auto busiest = std::ranges::max_element(join.calls_of_thread, {}, &std::vector<std::uint32_t>::size);
  if (busiest == join.calls_of_thread.end() || busiest->empty()) return {};
  const TraceEvent& first = trace.calls[busiest->front()];
  RecordedStep whole{.name = "whole trace", .thread = first.track, .start = first.start, .end = first.end()};
  for (const auto* events : {&trace.ops, &trace.calls, &trace.annotations}) {
    for (const TraceEvent& event : *events) {
      if (event.track != whole.thread) continue;
      whole.start = std::min(whole.start, event.start);
      whole.end = std::max(whole.end, event.end());
    }
  }
  return {whole};
}

}  // namespace

Rank::Rank(Trace read)
    : trace(std::move(read)),
      join(traces::join(trace)),
      order(trace, join),
      classes(work_classes(trace, join)),
      issues(collective_issues(trace)),
      collectives(collective_kernels(trace, join, classes, issues)),
      edges(cross_stream_edges(
          {.trace = trace, .join = join, .order = order, .issues = issues, .collectives = collectives})),
      waits(host_waits(trace, join, order)),
      steps(steps_of(trace)),
      has_steps(!steps.empty()) {
  if (!has_steps) steps = whole_trace(trace, join);
}

TracePlace Rank::place(const TraceEvent& event) const {
  return {.file = trace.file, .rank = trace.rank, .event = event.position};
}

}}  // namespace c3::traces
