#pragma once
/// The cluster on which a run of an experiment is simulated.

#include <cstdint>
#include <memory>

#include "collectives/cluster.hpp"
#include "gpu/isolation.hpp"
#include "workloads/experiment.hpp"

namespace c3 { inline namespace workloads {

/// As the strategy has it.
ClusterSpec cluster_spec(const Experiment& experiment, const Strategy& strategy);

/// \param seed of the run, beside the experiment's
/// \param classes nullptr: one rank stands for all, or none for others.
/// \param schedules of another run of the same cluster and classes
ClusterSetup cluster_setup(const Experiment& experiment, const Strategy& strategy, Isolation isolation,
                           std::uint64_t seed, std::shared_ptr<const RankPartition> classes,
                           std::shared_ptr<const FoldedSchedules> schedules = nullptr);

/// \param classes nullptr: every rank is simulated, or one for all (\p folded)
RankPartition partition_of(int ranks, bool folded, const RankPartition* classes);

}}  // namespace c3::workloads
