#pragma once
/// Simulates the points of a sweep, each in a process and a file of its own.

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "app/sweep/point_source.hpp"
#include "app/sweep/sweep_plan.hpp"

namespace c3 { inline namespace app {

/// Every n-th point, counted from 1: `--shard 2/8`.
struct SweepShard {
  std::size_t number = 1, count = 1;
};

struct SweepRun {
  int workers = 1;
  std::optional<std::chrono::duration<double>> limit;  ///< limit for one point
};

/// Points of \p shard, each configuration once.
std::vector<std::size_t> points_of(const SweepPlan& plan, const SweepShard& shard);

/// The points among \p points that have no result, the last first: ranges mostly go up, and a long point at the
/// end would leave the other workers idle. A failure counts as a result, unless it is to be tried again.
std::vector<std::size_t> unfinished(const SweepPlan& plan, const std::vector<std::size_t>& points,
                                    bool retry_failed);

/// Simulates what \p source gives until it has no more. After a SIGINT or SIGTERM those that run come to their
/// end, and no more begin. \throws IoError when a result cannot be written: then no more begin, either
void run_points(const SweepPlan& plan, PointSource& source, const SweepRun& how,
                const std::function<void(const PointCounts&)>& progress);

}}  // namespace c3::app
