#pragma once
/// Which clusters a method made of a program's kernels, and how many invocations of each it would simulate.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/sampling/clusters.hpp"

namespace c3 { inline namespace sampling {

/// How the invocations of a cluster are chosen.
enum class DrawRule : std::uint8_t {
  with_replacement,
  without_replacement,
  first,  ///< those that ran first, always the same
};

struct PlannedCluster {
  std::string kernel;  ///< whose invocations these are; empty: of several kernels
  Cluster members;
  ClusterStatistics statistics;
  std::size_t samples = 1;  ///< to draw, at least 1

  /// A cluster that has no more members than draws is simulated whole.
  bool is_whole() const { return samples >= members.size(); }
};

struct SamplePlan {
  std::string_view method;
  DrawRule draws = DrawRule::without_replacement;
  std::vector<PlannedCluster> clusters;
  /// How far the estimate is off at most, relative to the whole time, with probability `confidence`: what the
  /// plan was made for. Absent: the method promises nothing.
  std::optional<double> bound;
  double confidence = 0.95;
  std::shared_ptr<const std::vector<TimedInvocation>> storage;  ///< of all members

  Seconds total() const;  ///< of all invocations
  std::size_t invocations() const;
  std::size_t samples() const;    ///< to draw
  Seconds expected_cost() const;  ///< mean time of the drawn invocations
  /// What the spread inside the clusters lets expect: z times the standard error of the estimate, over the
  /// whole time. At most `bound` in methods that plan for one. Absent where nothing is drawn at random.
  std::optional<double> expected_error() const;
};

/// The share of a bound that expected_error() may take: means of a few draws from skewed durations are not
/// quite normal, and miss a bound that they fill more often than the confidence allows.
inline constexpr double kFilledBound = 0.85;

/// Draws more where the expected error of \p plan fills more of its bound than kFilledBound. Few plans need it:
/// those of one kernel or two, whose errors do not average out.
void keep_margin(SamplePlan& plan);

}}  // namespace c3::sampling
