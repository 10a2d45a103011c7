#pragma once
/// What a ladder comes to: shares of the ideal speedup, their averages, and correlations of ranks.

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "engine/units.hpp"

namespace c3 { inline namespace studies {

/// A pair of a kernel and a collective that ran together. Ideal is (G + C) / max(G, C) of its own isolated
/// times, which is above 1. Nothing is filtered or clipped: a collective that is faster on copy engines than
/// alone on CUs may have more than all of the ideal.
struct PairSpeedup {
  double ideal = 1.0;
  double speedup = 1.0;  ///< (G + C) / time

  double share() const { return (speedup - 1.0) / (ideal - 1.0); }
};
PairSpeedup speedup_of(Seconds kernel, Seconds collective, Seconds together);

/// Averages over pairs: at least one.
double mean_of_shares(std::span<const PairSpeedup> pairs);
double share_of_means(std::span<const PairSpeedup> pairs);  ///< (mean speedup - 1) / (mean ideal - 1)
double median_share(std::span<const PairSpeedup> pairs);
double mean_speedup(std::span<const PairSpeedup> pairs);
double mean_ideal(std::span<const PairSpeedup> pairs);
double max_speedup(std::span<const PairSpeedup> pairs);

/// The value of a figure over draws of what is uncertain.
struct DrawnValue {
  double median = 0.0, p5 = 0.0, p95 = 0.0;
};
/// Absent without draws.
std::optional<DrawnValue> over_draws(const std::vector<double>& values);

/// What |spearman| of unrelated values stays below in 19 of 20 cases: 1.96 / sqrt(n - 1), for n > 10 or so.
double spearman_noise(std::size_t values);

}}  // namespace c3::studies
