#pragma once
/// Which ranks of an experiment are simulated under a strategy.

#include <cstdint>
#include <memory>
#include <vector>

#include "interconnect/rank_partition.hpp"
#include "workloads/experiment.hpp"

namespace c3 { inline namespace workloads {

/// Whether one rank can stand for all: every rank of the node sees the same links, and all ranks do the same in
/// every operation. Not with measure.fold = "none".
bool folds(const Experiment& experiment, const Strategy& strategy);

/// The classes of ranks of which one member each is simulated, by whom they meet; nullptr where every rank is:
/// on one node, where classes save little; where `fold` is none; where paths are chosen by a hash, or links
/// between switches are unlike those of a tree; where copy engines serve ranks one after another; where the
/// members of a group that is fused with kernels are not one class; where ranks of a class send to one another;
/// at grain step; and where no two ranks are alike. Only where not folds(). \param apart by rank, numbers of
/// ranks that what they load tells apart; empty: nothing does
std::shared_ptr<const RankPartition> classes_of(const Experiment& experiment, const Strategy& strategy,
                                                const std::vector<std::uint32_t>& apart = {});

}}  // namespace c3::workloads
