#include "workloads/traces/launch_order.hpp"

#include <algorithm>
#include <limits>

namespace c3 { inline namespace traces {

LaunchOrder::LaunchOrder(const Trace& trace, const TraceJoin& join)
    : place_(trace.activities.size()), queues_(join.activities_of_queue), dates_(queues_.size()) {
  constexpr Picoseconds kBeforeWindow{std::numeric_limits<std::int64_t>::min() / 4};
  for (std::uint32_t i = 0; i < trace.activities.size(); ++i) {
    const std::uint32_t call = join.launch_of[i];
    launched_.push_back(call == kNoIndex ? kBeforeWindow : trace.calls[join.outer_call[call]].start);
    queue_of_.push_back(trace.activities[i].track);
  }
  for (std::size_t queue = 0; queue < queues_.size(); ++queue) {
    Picoseconds latest = kBeforeWindow;
    for (std::uint32_t place = 0; place < queues_[queue].size(); ++place) {
      const std::uint32_t activity = queues_[queue][place];
      place_[activity] = place;
      latest = std::max(latest, launched_[activity]);
      dates_[queue].push_back(latest);
    }
  }
}

std::uint32_t LaunchOrder::last_before(std::uint32_t queue, Picoseconds date) const {
  const auto after = std::ranges::lower_bound(dates_[queue], date);
  if (after == dates_[queue].begin()) return kNoIndex;
  return queues_[queue][static_cast<std::size_t>(after - dates_[queue].begin()) - 1];
}

std::uint32_t LaunchOrder::first_from(std::uint32_t queue, Picoseconds date) const {
  const auto found = std::ranges::lower_bound(dates_[queue], date);
  if (found == dates_[queue].end()) return kNoIndex;
  return queues_[queue][static_cast<std::size_t>(found - dates_[queue].begin())];
}

std::uint32_t LaunchOrder::predecessor(std::uint32_t activity) const {
  const std::uint32_t place = place_[activity];
  return place == 0 ? kNoIndex : queues_[queue_of_[activity]][place - 1];
}

}}  // namespace c3::traces
