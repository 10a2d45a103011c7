#include "results/report/timeline.hpp"

#include <algorithm>
#include <utility>

namespace c3 { inline namespace results {
namespace {

/// When the last operation ends, and when the last part of one: a collective may end on all GPUs with the last
/// transfer of one.
std::pair<std::int64_t, std::int64_t> end_of(const GpuTimeline& gpu) {
  std::pair<std::int64_t, std::int64_t> end;
  for (const auto& lane : gpu.streams) {
    for (const auto& slice : lane.slices)
      end = std::max(end, std::pair(slice.end, slice.busy.empty() ? slice.start : slice.busy.back().end));
  }
  return end;
}

Intervals busy_of(const GpuTimeline& gpu, std::string_view kind) {
  std::vector<Interval> parts;
  for (const auto& lane : gpu.streams) {
    for (const auto& slice : lane.slices) {
      if (slice.kind == kind) parts.insert(parts.end(), slice.busy.begin(), slice.busy.end());
    }
  }
  return united(std::move(parts));
}

}  // namespace

const GpuTimeline& StrategyTimeline::last_gpu() const {
  return *std::ranges::max_element(gpus, {}, end_of);  // the first of equals
}

BusySplit StrategyTimeline::split() const {
  const auto compute = busy_of(last_gpu(), "kernel");
  const auto communication = busy_of(last_gpu(), "collective");
  const auto both = length(intersection(compute, communication));
  BusySplit split{
      .compute_only = length(compute) - both, .both = both, .communication_only = length(communication) - both};
  split.neither = time - split.compute_only - split.both - split.communication_only;
  return split;
}

}}  // namespace c3::results
