#pragma once
/// The activities of a strategy in two result files, matched by kind, name and rank.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "results/diff/summary_diff.hpp"

namespace c3 { inline namespace results {

/// All activities of one kind and name on one rank. Times in ps.
struct ActivityChange {
  std::string kind, name;
  int gpu = -1;  ///< rank, -1 on none
  std::uint64_t count_a = 0, count_b = 0;
  std::int64_t total_a = 0, total_b = 0;  ///< sum of their durations
  std::int64_t start_shift = 0;           ///< how much later matched ones start in b, added up

  std::uint64_t matched() const { return count_a < count_b ? count_a : count_b; }
  std::int64_t change() const { return total_b - total_a; }
  std::optional<std::int64_t> mean_start_shift() const;  ///< over what is matched
  bool operator==(const ActivityChange&) const = default;
};

struct ActivityDiff {
  std::vector<ActivityChange> changes;  ///< sorted by how much total durations change, the largest first
  std::uint64_t unchanged = 0;          ///< matched, with the same start and duration
  std::uint64_t moved = 0;              ///< matched, with the same duration and another start
  std::uint64_t changed = 0;            ///< matched, with another duration
  std::uint64_t only_a = 0, only_b = 0;

  std::uint64_t matched() const { return unchanged + moved + changed; }
  bool is_equal() const { return moved + changed + only_a + only_b == 0; }
};

/// Compares kernels, collectives, transfers and ranges, or with \p all_kinds all activities. When several are
/// alike, the first to end is matched with the first to end, and so on. Both files are read side by side, a
/// block at a time, and only what has no match yet is held: memory grows with how far they are apart, by 16
/// bytes an activity.
/// \param tolerance relative, of dates and durations. \throws IoError when a file is damaged.
ActivityDiff diff_activities(const StrategyIn& a, const StrategyIn& b, double tolerance, bool all_kinds);

}}  // namespace c3::results
