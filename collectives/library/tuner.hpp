#pragma once
/// Which algorithm and protocol a library takes for a collective.

#include <optional>
#include <vector>

#include "collectives/backends/backend.hpp"
#include "collectives/call.hpp"
#include "collectives/library/method.hpp"
#include "collectives/spec.hpp"

namespace c3 { inline namespace collectives {

/// The time that a library expects \p call to take, by the formulas of its own tuner (NCCL 2.18 to
/// 2.30, src/graph/tuning.cc, as CollectiveLibrarySpec::version says; RCCL 2.21.5 has the same ones with other
/// constants): latency of base and steps, and
/// bytes over the bandwidth that it expects. Not what a simulation of it takes. Absent where the library does
/// not offer the two, or has no formula for them.
std::optional<Seconds> expected_time(const CollectiveCall& call, Algorithm algorithm, Protocol protocol,
                                     const ClusterSpec& cluster);

/// Every method for which the library has a formula, among those that \p wish leaves: what it chooses from.
/// None where it chooses by size alone.
std::vector<CollectiveMethod> offered_methods(const CollectiveCall& call, const ClusterSpec& cluster,
                                              const MethodWish& wish = {});

/// The method of least expected_time among those that \p wish leaves. Pairs go by size: ll up to 16 KiB each.
/// Without a formula the library takes default_algorithm in protocol simple. Without a wish, registered buffers
/// go by symmetric kernels, see symmetric_method. \throws InfeasibleError when the library lacks the
/// protocol that \p wish names.
CollectiveMethod choose_method(const CollectiveCall& call, const ClusterSpec& cluster,
                               const MethodWish& wish = {});

/// What moves \p call where a user leaves it to the library: channels, or copy engines, see gathers_by_engines.
Backend choose_backend(const CollectiveCall& call, const ClusterSpec& cluster, const MethodWish& wish = {});

}}  // namespace c3::collectives
