#pragma once
/// What a strategy makes of the collectives of an experiment.

#include "collectives/library/method.hpp"
#include "workloads/experiment.hpp"

namespace c3 { inline namespace workloads {

/// What moves \p call: what \p policy names, but copy engines where it leaves channels to the library, which
/// takes them (choose_backend).
Backend backend_of(const CollectiveCall& call, const StreamPolicy& policy, const ClusterSpec& cluster);

/// What \p policy asks for. Where it asks for nothing, or \p call has but one algorithm: as the library's tuner
/// chooses, and default_algorithm on copy engines.
CollectiveMethod method_of(const CollectiveCall& call, const StreamPolicy& policy, const ClusterSpec& cluster);

}}  // namespace c3::workloads
