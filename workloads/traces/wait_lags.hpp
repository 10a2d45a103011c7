#pragma once
/// \file
/// What a call that waits takes by itself, and how long after the end of GPU work it returns.

#include <array>
#include <unordered_map>

#include "workloads/traces/rank_record.hpp"

namespace c3 { inline namespace traces {

/// The time that calls take without waiting. A call that found its work ended already shows it; for one that
/// waited it is taken from others of its reason in this trace: their median, or 0 if there is none.
class OwnCosts {
 public:
  explicit OwnCosts(const Rank& rank);
  Picoseconds of(std::uint32_t call) const;
  /// Whether the call waited: some of its GPU work ended after it began.
  bool waited(std::uint32_t call) const { return !free_.contains(call); }

 private:
  const Rank& rank_;
  std::unordered_map<std::uint32_t, WaitReason> reasons_;  ///< by call
  std::unordered_map<std::uint32_t, Picoseconds> free_;    ///< duration of calls that did not wait
  std::array<Picoseconds, kWaitReasons> medians_{};
};

}}  // namespace c3::traces
