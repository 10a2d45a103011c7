#include "workloads/traces/trace_join.hpp"

#include <algorithm>
#include <unordered_map>

namespace c3 { inline namespace traces {
namespace {

/// Finds for each of \p inner the innermost of \p outer that is on its thread and was running when it started.
/// Both are sorted by start, longer ones first. If they are the same vector, an event is not around itself.
std::vector<std::uint32_t> innermost_around(const std::vector<TraceEvent>& inner,
                                            const std::vector<TraceEvent>& outer, std::size_t threads) {
  const bool is_same = &inner == &outer;
  std::vector<std::uint32_t> around(inner.size(), kNoIndex);
  std::vector<std::vector<std::uint32_t>> open(threads);
  std::uint32_t next = 0;
  for (std::uint32_t i = 0; i < inner.size(); ++i) {
    const TraceEvent& event = inner[i];
    for (; next < outer.size() && (is_same ? next < i : outer[next].start <= event.start); ++next) {
      if (outer[next].track < threads) open[outer[next].track].push_back(next);
    }
    if (event.track >= threads) continue;
    std::vector<std::uint32_t>& stack = open[event.track];
    while (!stack.empty() && outer[stack.back()].end() <= event.start)
      stack.pop_back();
    if (!stack.empty()) around[i] = stack.back();
  }
  return around;
}

std::vector<std::uint32_t> outermost(const std::vector<std::uint32_t>& parents) {
  std::vector<std::uint32_t> outer(parents.size());
  for (std::uint32_t i = 0; i < parents.size(); ++i)
    outer[i] = parents[i] == kNoIndex ? i : outer[parents[i]];  // what is around comes first
  return outer;
}

std::vector<std::uint32_t> launches(const Trace& trace) {
  std::unordered_map<std::int64_t, std::uint32_t> calls;
  for (std::uint32_t call = 0; call < trace.calls.size(); ++call) {
    if (trace.calls[call].correlation != kUnknown) calls.emplace(trace.calls[call].correlation, call);
  }
  std::vector<std::uint32_t> launch_of;
  launch_of.reserve(trace.activities.size());
  for (const TraceEvent& activity : trace.activities) {
    const auto found = calls.find(activity.correlation);
    launch_of.push_back(found == calls.end() ? kNoIndex : found->second);
  }
  return launch_of;
}

/// Files of 2023 and 2024 repeat the correlation as "External id"; others have the id of an operator there.
bool has_op_ids(const Trace& trace) {
  return std::ranges::any_of(trace.activities, [](const TraceEvent& activity) {
    return activity.external_id != kUnknown && activity.external_id != activity.correlation;
  });
}

/// The operator whose id the GPU work has, or else the one around its launch.
std::vector<std::uint32_t> ops_of_activities(const Trace& trace, const TraceJoin& join) {
  std::unordered_map<std::int64_t, std::uint32_t> ops;
  if (has_op_ids(trace)) {
    for (std::uint32_t op = 0; op < trace.ops.size(); ++op) {
      if (trace.ops[op].external_id != kUnknown) ops.emplace(trace.ops[op].external_id, op);
    }
  }
  std::vector<std::uint32_t> op_of;
  op_of.reserve(trace.activities.size());
  for (std::uint32_t i = 0; i < trace.activities.size(); ++i) {
    const std::uint32_t launch = join.launch_of[i];
    std::uint32_t op = launch == kNoIndex ? kNoIndex : join.op_of_call[launch];
    const auto found = ops.find(trace.activities[i].external_id);
    if (op == kNoIndex && found != ops.end()) op = found->second;
    op_of.push_back(op);
  }
  return op_of;
}

}  // namespace

TraceJoin join(const Trace& trace) {
  TraceJoin join;
  const std::size_t threads = trace.threads.size();
  join.launch_of = launches(trace);
  join.op_of_call = innermost_around(trace.calls, trace.ops, threads);
  join.parent_op = innermost_around(trace.ops, trace.ops, threads);
  join.outer_call = outermost(innermost_around(trace.calls, trace.calls, threads));
  join.op_of = ops_of_activities(trace, join);
  join.calls_of_thread.resize(threads);
  for (std::uint32_t call = 0; call < trace.calls.size(); ++call) {
    if (join.outer_call[call] == call) join.calls_of_thread[trace.calls[call].track].push_back(call);
  }
  join.activities_of_queue.resize(trace.queues.size());
  for (std::uint32_t i = 0; i < trace.activities.size(); ++i)
    join.activities_of_queue[trace.activities[i].track].push_back(i);
  return join;
}

std::size_t graph_launches(const TraceJoin& join) {
  std::unordered_map<std::uint32_t, std::size_t> owned;
  for (const std::uint32_t launch : join.launch_of) {
    if (launch != kNoIndex) ++owned[launch];
  }
  return static_cast<std::size_t>(
      std::ranges::count_if(owned, [](const auto& call) { return call.second > 1; }));
}

}}  // namespace c3::traces
