#pragma once
/// Which rank gets which table, by rules of thumb and by a bound.

#include <cstdint>
#include <functional>
#include <vector>

#include "collectives/spec.hpp"
#include "workloads/recommendation/job.hpp"

namespace c3 { inline namespace workloads {

/// The rank of each table.
using Placement = std::vector<int>;

/// Times of kernels, forward and backward: ranks wait for each other between, at the exchange of sums.
struct TableTimes {
  Seconds forward;   ///< of lookups, and of the host's rows that come
  Seconds backward;  ///< of sort and update, and of the host's rows that go

  Seconds sum() const { return forward + backward; }
};

/// What a table by table costs its rank.
struct TableCost {
  TableTimes time;  ///< all samples', its share of a kernel with as many tables as a rank has on average
  Bytes sums;       ///< that its rank sends, to all ranks
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
  /// How long the kernels of a rank take that has these tables, by place in `costs`, in one kernel each way;
  /// absent: as long as the tables' times together.
  std::function<TableTimes(const std::vector<std::size_t>& tables)> kernels = {};
};
/// The space of the free tables of \p job.
PlacementSpace placement_space(const RecommendationJob& job, const ClusterSpec& cluster);

/// Whether no rank has more than its memory.
bool fits(const PlacementSpace& space, const Placement& placement);

/// One of \p most numbers, by \p seed and which draw it is.
std::uint64_t drawn_number(std::uint64_t seed, std::uint64_t draw, std::uint64_t most);

/// A lower bound of the part of a step that a placement decides: the longest lookups of a rank, the exchange of
/// the rank that sends most, forward and backward, and the longest updates of a rank. Wrong when: lookups and
/// exchanges overlap, or wait for other things.
Seconds least_time(const PlacementSpace& space, const Placement& placement);

/// Places tables in turn, at random, or largest weight first on the rank that has least weight so far and has
/// room; `search` improves what by_time places. \throws InfeasibleError when no rank has room for a table,
/// or the placement does not fit.
Placement place(const PlacementSpace& space, Sharder sharder, std::uint64_t seed);

/// Moves and swaps of single tables from \p placement on, the best one of the longest rank each time, until
/// none lowers the bound by the tables' times, then until none of those that promise most lowers least_time.
Placement improved(const PlacementSpace& space, Placement placement);

}}  // namespace c3::workloads
