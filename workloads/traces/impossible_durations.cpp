#include "workloads/traces/impossible_durations.hpp"

namespace c3 { inline namespace traces {
namespace {

bool share_a_launch(const TraceEvent& a, const TraceEvent& b) {
  return a.correlation != kUnknown && a.correlation == b.correlation;
}

}  // namespace

void cut_impossible_durations(Trace& trace) {
  std::vector<std::uint32_t> next(trace.queues.size(), kNoIndex);  // [queues] activity that starts next
  std::vector<std::uint32_t> next_launch(trace.activities.size(), kNoIndex);  // the same, of another call
  for (auto i = static_cast<std::uint32_t>(trace.activities.size()); i-- > 0;) {
    TraceEvent& event = trace.activities[i];
    const std::uint32_t behind = next[event.track];
    next[event.track] = i;
    if (behind == kNoIndex) continue;
    next_launch[i] = share_a_launch(event, trace.activities[behind]) ? next_launch[behind] : behind;
    if (next_launch[i] == kNoIndex) continue;
    const TraceEvent& later = trace.activities[next_launch[i]];
    if (event.end() <= later.end()) continue;
    const Picoseconds left = later.start - event.start;
    trace.changed_durations.push_back(
        {.event = event.position, .name = event.name, .recorded = event.duration, .taken = left});
    event.duration = left;
  }
}

}}  // namespace c3::traces
