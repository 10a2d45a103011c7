#pragma once
/// Which algorithm and protocol a library takes for a collective.

#include <optional>

#include "collectives/call.hpp"
#include "collectives/library/method.hpp"
#include "collectives/spec.hpp"

namespace c3::inline collectives {

/// The time that a library expects \p call to take, by the formulas of its own tuner (NCCL 2.30.7,
/// src/graph/tuning.cc; RCCL 2.21.5 has the same ones with other constants): latency of base and steps, and
/// bytes over the bandwidth that it expects. Not what a simulation of it takes. Absent where the library does
/// not offer the two, or has no formula for them.
std::optional<Seconds> expected_time(const CollectiveCall& call, Algorithm algorithm, Protocol protocol,
                                     const ClusterSpec& cluster);

/// The method of least expected_time among those that \p wish leaves. Pairs go by size: ll up to 16 KiB each.
/// Where the library has no formula, default_algorithm in protocol simple.
/// \throws InfeasibleError when the library has not the protocol that is wished.
CollectiveMethod choose_method(const CollectiveCall& call, const ClusterSpec& cluster,
                               const MethodWish& wish = {});

}  // namespace c3::collectives
