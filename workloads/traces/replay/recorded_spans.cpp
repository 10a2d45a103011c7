#include "workloads/traces/replay/recorded_spans.hpp"

#include <algorithm>

namespace c3 { inline namespace traces {
namespace {

/// The start of the last recorded member of each collective.
std::vector<Picoseconds> latest_starts(const RecordedRun& run) {
  std::vector<Picoseconds> latest(run.collectives.size());
  for (const RecordedRank& rank : run.ranks) {
    for (const RecordedWork& work : rank.work) {
      if (work.collective != kNoIndex) latest[work.collective] = std::max(latest[work.collective], work.start);
    }
  }
  return latest;
}

}  // namespace

std::vector<std::vector<RecordedSpan>> recorded_spans(const RecordedRun& run) {
  const std::vector<Picoseconds> latest = latest_starts(run);
  std::vector<std::vector<RecordedSpan>> ranks;
  for (const RecordedRank& rank : run.ranks) {
    std::vector<RecordedSpan>& spans = ranks.emplace_back();
    for (const RecordedWork& work : rank.work) {
      const bool is_matched = work.collective != kNoIndex;
      const Picoseconds last = is_matched ? latest[work.collective] : work.start;
      spans.push_back({.name = is_matched ? run.collectives[work.collective].name : work.name,
                       .communicates = is_matched || work.work_class == WorkClass::collective,
                       .stream = work.stream,
                       .start = work.start,
                       .last_start = last,
                       .end = last + work.duration});
    }
  }
  return ranks;
}

}}  // namespace c3::traces
