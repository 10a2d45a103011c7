#pragma once
/// Which rank gets which table: rules of thumb, and a search that asks for the times of placements.

#include <cstdint>
#include <optional>
#include <vector>

#include "base/enum_names.hpp"
#include "collectives/spec.hpp"
#include "workloads/recommendation/job.hpp"

namespace c3::inline workloads {

/// The rank of each table.
using Placement = std::vector<int>;

/// What a table by table costs its rank.
struct TableCost {
  Seconds
      time;  ///< of its lookups and updates, all samples', each kernel alone, and of the host's rows both ways
  Bytes sums;  ///< that its rank sends, to all ranks
  Bytes memory;
  double lookups = 0;
  double rows = 0;
};
std::vector<TableCost> table_costs(const RecommendationJob& job, const ClusterSpec& cluster);

/// Ranks with so much memory, from which sums leave at a rate.
struct PlacementSpace {
  std::vector<TableCost> costs;
  int ranks = 1;
  Bytes memory;
  BytesPerSecond rate;
};
PlacementSpace placement_space(const RecommendationJob& job, const ClusterSpec& cluster);

/// A lower bound of the part of a step that a placement decides: the longest rank's lookups, then the exchange
/// of the rank that sends most, forward and backward. Wrong when: lookups and exchanges overlap, or wait for
/// other things.
Seconds least_time(const PlacementSpace& space, const Placement& placement);

/// Largest weight first, to the rank that has least of it so far and has room. \throws InfeasibleError when no
/// rank has room for a table.
Placement place(const PlacementSpace& space, Sharder sharder, std::uint64_t seed);

/// Moves and swaps of single tables from \p placement on, the best one of the longest rank each time, until
/// none lowers least_time.
Placement improved(const PlacementSpace& space, Placement placement);

/// Ask for a placement, tell its time, and ask again. First come those of all sharders, improved by_time ones
/// before them; then neighbours of the best that was told, drawn at random.
class ShardingSearch {
 public:
  ShardingSearch(PlacementSpace space, std::uint64_t seed);

  const Placement& ask() const { return asked_; }
  void tell(Seconds time);  ///< of the one asked for
  const Placement& best() const { return best_; }
  Seconds best_time() const { return best_time_; }

 private:
  Placement neighbour();

  PlacementSpace space_;
  std::uint64_t seed_;
  std::uint64_t told_ = 0;
  Placement asked_, best_;
  Seconds best_time_;
};

/// \p job with its tables by table that have no rank where its sharder puts them.
RecommendationJob sharded(RecommendationJob job, const ClusterSpec& cluster);

}  // namespace c3::workloads
