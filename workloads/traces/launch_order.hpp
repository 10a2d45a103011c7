#pragma once
/// \file
/// GPU work of one rank in the order of its launches, on each queue.

#include <cstdint>
#include <vector>

#include "workloads/traces/trace_join.hpp"

namespace c3 { inline namespace traces {

class LaunchOrder {
 public:
  LaunchOrder(const Trace& trace, const TraceJoin& join);

  /// When the outermost call around the launch began; long before the window for work launched before it.
  Picoseconds launched(std::uint32_t activity) const { return launched_[activity]; }
  std::size_t queues() const { return queues_.size(); }
  /// The last GPU work on \p queue that was launched before \p date, or kNoIndex.
  std::uint32_t last_before(std::uint32_t queue, Picoseconds date) const;
  /// The first GPU work on \p queue that was launched at \p date or later, or kNoIndex.
  std::uint32_t first_from(std::uint32_t queue, Picoseconds date) const;
  /// What was launched just before \p activity on its queue, or kNoIndex.
  std::uint32_t predecessor(std::uint32_t activity) const;

 private:
  std::vector<Picoseconds> launched_;               ///< [activities]
  std::vector<std::uint32_t> place_;                ///< [activities] in its queue
  std::vector<std::uint32_t> queue_of_;             ///< [activities]
  std::vector<std::vector<std::uint32_t>> queues_;  ///< [queues] by start, which is the order of launches
  std::vector<std::vector<Picoseconds>> dates_;     ///< [queues] never falling
};

}}  // namespace c3::traces
