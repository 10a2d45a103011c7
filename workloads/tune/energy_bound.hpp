#pragma once
/// What the boards of a run draw without simulating it: at least, and about.

#include <vector>

#include "workloads/experiment.hpp"
#include "workloads/tune/least_times.hpp"

namespace c3 { inline namespace workloads {

/// Part of power_limit() that a governor holds the mean power to while it slows the clock (assumed: it follows
/// its target, half a per cent below the limit, within 2 %, and what ran just before counts, too).
inline constexpr double kHeldPower = 0.95;

/// The energy of a script's products beyond what an idle board draws.
struct ProductEnergy {
  Joules least;  ///< of the stream with the most: each at boost clock or at the power limit, whichever is less
  Joules at_boost;  ///< of all streams
};

/// \pre is_governed(gpu)
ProductEnergy product_energy(const Script& script, const GpuSpec& gpu, PowerLoads& loads);

/// How many ranks run each script of \p program.
std::vector<double> ranks_by_script(const Program& program, int ranks);

/// What a board draws at least until \p time, or later, in a run with products of \p energy: as long as its
/// clock is free, idle power and its products' energy at boost clock; where it is slowed, no less than
/// kHeldPower of the limit. Either may hold for a part of the run, so that a product for which the limit allows
/// less than its energy counts that. HBM, links and vector units are left out, which makes the bound lower.
Joules least_energy(const GpuSpec& gpu, const ProductEnergy& energy, Seconds time);

/// About: idle power and products at boost clock, no more than the limit.
Joules likely_energy(const GpuSpec& gpu, const ProductEnergy& energy, Seconds time);

}}  // namespace c3::workloads
