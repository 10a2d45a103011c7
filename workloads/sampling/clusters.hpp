#pragma once
/// Clusters of durations: because durations are numbers on a line, a cluster is a range of the sorted ones.

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/units.hpp"

namespace c3 { inline namespace sampling {

struct TimedInvocation {
  Seconds duration;
  std::uint32_t invocation = 0;  ///< its number in the program

  friend auto operator<=>(const TimedInvocation&, const TimedInvocation&) = default;
};

/// Sorted by duration.
using Cluster = std::span<const TimedInvocation>;

struct ClusterStatistics {
  std::size_t count = 0;
  Seconds mean;
  Seconds deviation;  ///< of the population: the mean squared distance from the mean, rooted

  Seconds total() const { return mean * static_cast<double>(count); }
  /// Deviation over mean; 0 where the mean is.
  double variation() const { return mean.value > 0.0 ? deviation / mean : 0.0; }
  /// The same with the deviation of a sample, whose squared distances are divided by count - 1.
  double sample_variation() const;
};

ClusterStatistics statistics_of(Cluster cluster);

/// How many members belong to the shorter of the two clusters that 2-means would find: the split with the least
/// sum of squared distances, found exactly, in one pass over the sorted members. 0: all are equal.
std::size_t two_means(Cluster cluster);

}}  // namespace c3::sampling
