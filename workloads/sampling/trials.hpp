#pragma once
/// How far a plan's estimates are off over many seeds, where the whole time is known.

#include <cstdint>

#include "workloads/sampling/plan.hpp"

namespace c3 { inline namespace sampling {

struct TrialErrors {
  std::uint64_t seeds = 0;
  double mean = 0.0, p95 = 0.0, worst = 0.0;  ///< relative
  double within_bound = 0.0;                  ///< share of seeds; 0 where the plan has no bound
  double speedup = 0.0;                       ///< whole time over the mean time simulated
};

/// Draws with seeds 0 .. \p seeds - 1. \param seeds at least 1
TrialErrors try_seeds(const SamplePlan& plan, std::uint64_t seeds);

}}  // namespace c3::sampling
