#include "workloads/traces/wait_lags.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include "base/statistics.hpp"

namespace c3 { inline namespace traces {

OwnCosts::OwnCosts(const Rank& rank) : rank_(rank) {
  std::set<std::uint32_t> waited;
  for (const HostWait& wait : rank.waits) {
    reasons_.emplace(wait.call, wait.reason);
    if (rank.trace.activities[wait.activity].end() > rank.trace.calls[wait.call].start)
      waited.insert(wait.call);
  }
  std::array<std::vector<Picoseconds>, kWaitReasons> lengths;
  for (const auto& [call, reason] : reasons_) {
    if (waited.contains(call)) continue;
    const Picoseconds length = rank.trace.calls[call].duration;
    free_.emplace(call, length);
    lengths[static_cast<std::size_t>(reason)].push_back(length);
  }
  for (std::size_t reason = 0; reason < lengths.size(); ++reason) {
    if (lengths[reason].empty()) continue;
    medians_[reason] = upper_median(std::move(lengths[reason]));
  }
}

Picoseconds OwnCosts::of(std::uint32_t call) const {
  if (const auto found = free_.find(call); found != free_.end()) return found->second;
  const auto reason = reasons_.find(call);
  if (reason == reasons_.end()) return rank_.trace.calls[call].duration;
  return std::min(medians_[static_cast<std::size_t>(reason->second)], rank_.trace.calls[call].duration);
}

}}  // namespace c3::traces
