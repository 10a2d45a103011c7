#pragma once
/// How long a stream of kernels takes at least where the board's mean power is limited.

#include <vector>

#include "gpu/spec.hpp"

namespace c3 { inline namespace workloads {

/// A kernel of matrix products as its power sees it.
struct PowerLoad {
  Seconds arithmetic;  ///< that the clock scales, at boost clock
  Joules energy;       ///< of its products, at boost clock
};

/// Share by which the mean power of a run may exceed the limit (assumed: a governor follows the mean
/// within 2 %, and where it stands when a run begins is an estimate).
inline constexpr double kPowerMargin = 0.05;

/// The time until \p loads have run one after another, in whatever clock, and \p others, which the clock does
/// not slow, beside none of them. A load that takes M at a clock of f >= arithmetic / M of boost draws (idle +
/// energy / arithmetic) f^p, p = 1 / exponent (PowerGovernor). By convexity the least energy of all loads in M
/// together is M^(1 - p) S^p with S = sum of arithmetic (idle + energy / arithmetic)^(1 / p), and it must not
/// exceed the limit times the time. What HBM and others draw is left out, which makes the bound lower. \pre
/// is_governed(gpu)
Seconds power_bound(const GpuSpec& gpu, const std::vector<PowerLoad>& loads, Seconds others);

}}  // namespace c3::workloads
