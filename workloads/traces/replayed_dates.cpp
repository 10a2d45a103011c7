#include "workloads/traces/replayed_dates.hpp"

#include <algorithm>
#include <string>
#include <unordered_map>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace c3 { inline namespace traces {
namespace {

constexpr std::size_t kMostNamed = 8;  ///< events of a ring, in a message of one line

struct RankEvent {
  const Rank* rank = nullptr;
  const TraceEvent* event = nullptr;

  bool operator==(const RankEvent&) const = default;
};

/// The GPU work or the call that a point begins or ends; points between ranks or threads have none.
std::unordered_map<PointId, RankEvent> events_at_points(const std::vector<Rank>& ranks, const RunGraph& run) {
  std::unordered_map<PointId, RankEvent> events;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const RankPoints& points = run.ranks[i];
    for (std::size_t k = 0; k < points.starts.size(); ++k) {
      for (const PointId point : {points.starts[k], points.ends[k]})
        events.emplace(point, RankEvent{&ranks[i], &ranks[i].trace.activities[k]});
    }
    for (const auto& [call, call_points] : points.calls) {
      for (const PointId point : {call_points.begin, call_points.end})
        events.emplace(point, RankEvent{&ranks[i], &ranks[i].trace.calls[call]});
    }
  }
  return events;
}

/// "'gemm' (rank0.json, event 7, ts 1031.000)"
std::string event_text(const RankEvent& placed) {
  const WidePicoseconds date = placed.rank->trace.origin + placed.event->start.count;
  constexpr WidePicoseconds kMicrosecond = 1'000'000;
  return fmt::format("'{}' ({}, event {}, ts {}.{:03})", placed.rank->trace.name_of(*placed.event),
                     placed.rank->trace.file, placed.event->position,
                     static_cast<std::int64_t>(date / kMicrosecond),
                     static_cast<int>(date % kMicrosecond / 1000));
}

[[noreturn]] void refuse(const std::vector<Rank>& ranks, const RunGraph& run,
                         const std::vector<PointId>& ring) {
  const std::unordered_map<PointId, RankEvent> events_of = events_at_points(ranks, run);
  std::vector<RankEvent> events;
  for (const PointId point : ring) {
    const auto found = events_of.find(point);
    if (found != events_of.end() && (events.empty() || events.back() != found->second))
      events.push_back(found->second);
  }
  if (events.size() > 1 && events.front() == events.back()) events.pop_back();
  TracePlace place{.file = ranks.front().trace.file, .rank = {}, .event = {}};
  if (!events.empty()) place = events.front().rank->place(*events.front().event);
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < std::min(events.size(), kMostNamed); ++i)
    texts.push_back(event_text(events[i]));
  if (events.size() > kMostNamed) texts.push_back(fmt::format("and {} more", events.size() - kMostNamed));
  throw TraceSetError(
      place, fmt::format("events of this run wait for each other in a ring: {}", fmt::join(texts, ", ")));
}

}  // namespace

std::vector<Picoseconds> replayed_dates(const std::vector<Rank>& ranks, const RunGraph& run,
                                        const LagScales& scales) {
  try {
    return run.graph.replay(scales);
  } catch (const CycleError& error) {
    refuse(ranks, run, error.ring());
  }
}

}}  // namespace c3::traces
