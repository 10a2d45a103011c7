#pragma once
/// What a run starts with from the governor of a GPU, and what it reports of it.

#include "engine/units.hpp"

namespace c3 { inline namespace gpu {

/// Where a governor stands.
struct PowerState {
  Watts mean;          ///< averaged power of the board
  double speed = 1.0;  ///< that the governor leaves to the clock, of boost
};

/// Means over a run.
struct PowerMeans {
  Watts drawn;
  Watts at_boost;      ///< what the same would have drawn at boost clock
  double speed = 1.0;  ///< of the clock, of boost: governor and burst limit
  Watts highest;       ///< the highest mean over GovernorSpec::averaging
};

}}  // namespace c3::gpu
