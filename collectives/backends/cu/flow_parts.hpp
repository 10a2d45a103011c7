#pragma once
/// What the flow that channels move refers to.

#include <vector>

#include "engine/flow.hpp"

namespace c3 { inline namespace collectives {

/// Kept by who starts the flow, until it has started.
struct FlowParts {
  std::vector<Demand> demands;
  std::vector<BoundTerm> laws;  ///< bounds of channels that follow a clock

  /// Channels of \p domain that move the whole flow in \p time at speed 1, \p clock_share of which scales with
  /// the clock. When neighbours are in one domain, the slowest counts.
  void add_channels(DomainId domain, double time, double clock_share) {
    BoundLaw law;
    law.phases[0] = {.fixed = (1.0 - clock_share) * time, .scaled = clock_share * time};
    if (laws.empty() || laws.back().domain != domain) return laws.push_back({domain, law});
    if (law.time(1.0) > laws.back().law.time(1.0)) laws.back().law = law;
  }
};

}}  // namespace c3::collectives
