#pragma once
/// What a strategy makes of the collectives of an experiment.

#include "collectives/transfer_graph.hpp"
#include "workloads/experiment.hpp"

namespace c3 {

/// The algorithm that \p policy asks for; the default where it asks for none, or \p call has but one.
Algorithm algorithm_of(const CollectiveCall& call, const StreamPolicy& policy, const ClusterSpec& cluster);

/// Whether one rank can stand for all: `fold` is on, every rank of the node sees the same links, and all ranks
/// do the same in every operation.
bool folds(const Experiment& experiment, const Strategy& strategy);

}  // namespace c3
