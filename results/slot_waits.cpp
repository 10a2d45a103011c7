#include "results/slot_waits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace c3::inline results {

void SlotWaits::activity_started(ActivityId id, const ActivityInfo& info, Seconds at) {
  if (info.kind == ActivityKind::collective)
    waiting_[id] = {info.stream, counts_[{info.gpu, info.stream}]++, at};
  if (info.kind != ActivityKind::channel) return;
  const auto found = waiting_.find(info.parent);
  if (found == waiting_.end()) return;
  const auto& [stream, number, since] = found->second;
  std::vector<Seconds>& least = least_[stream];
  if (least.size() <= number) least.resize(number + 1, Seconds{std::numeric_limits<double>::infinity()});
  least[number] = std::min(least[number], at - since);
  waiting_.erase(found);
}

void SlotWaits::activity_finished(ActivityId id, Seconds at) {
  waiting_.erase(id);
  end_ = std::max(end_, at);
}

std::vector<std::string> SlotWaits::notes(const std::vector<std::string>& streams) const {
  constexpr double kWorthwhile = 0.01;
  std::vector<std::string> notes;
  for (const auto& [stream, least] : least_) {
    Seconds sum;
    for (const Seconds its : least)
      if (its.value < std::numeric_limits<double>::infinity()) sum += its;
    if (sum < kWorthwhile * end_) continue;
    notes.push_back(fmt::format("channels of stream '{}' wait for slots that kernels hold, {:.1f}% of the time",
                                streams[static_cast<std::size_t>(stream)], 100.0 * (sum / end_)));
  }
  return notes;
}

}  // namespace c3::results
