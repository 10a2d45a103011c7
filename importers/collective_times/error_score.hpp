#pragma once
/// How far predicted times of collectives are from measured ones, as `c3sim collective --table` says it.

#include <cstddef>
#include <optional>
#include <vector>

#include "engine/units.hpp"

namespace c3 { inline namespace importers {

/// The size at which latency stops to dominate and bandwidth begins to: both sides are scored apart.
inline constexpr Bytes kLargeFrom{1024.0 * 1024.0};

/// Errors of rows, in percent of the measured time.
struct ErrorScore {
  std::size_t rows = 0;
  double median = 0.0;  ///< median of the absolute errors
  double p90 = 0.0;     ///< 90th percentile of the absolute errors
  double bias = 0.0;    ///< median of the signed errors: above 0 predictions are too slow
};

/// \param errors signed, in percent. Absent without any.
std::optional<ErrorScore> score_of(const std::vector<double>& errors);

}}  // namespace c3::importers
