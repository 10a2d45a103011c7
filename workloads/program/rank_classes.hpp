#pragma once
/// Which ranks of a program cannot be told apart, so that one of them may stand for all.

#include <cstdint>
#include <vector>

#include "interconnect/rank_partition.hpp"
#include "workloads/program/program.hpp"

namespace c3 { inline namespace workloads {

/// The coarsest partition of the ranks in which two ranks of a class
/// - run the same script,
/// - belong, for every way in which calls group ranks, to groups that have as many ranks of each class on as
///   many nodes, and that treat both alike (a root differs from the others),
/// - send to ranks of the same classes, and receive from such,
/// - share their node with as many ranks of each class.
/// Found by colour refinement over groups; a group is never written out pair by pair, so that it costs ranks x
/// ways of grouping x rounds. Positions within a group do not matter: a collective begins when all its members
/// have joined and ends for all at once, so that a position reaches others only through loads, which may be
/// averaged (folding "mean"). Wrong when: members of a group end at different dates, as transfers do at grain
/// "step". \param node_gpus ranks of a node, which are neighbours. \param apart by rank, numbers of ranks that
/// something else tells apart; empty: nothing does.
RankPartition rank_classes(const Program& program, int ranks, int node_gpus,
                           const std::vector<std::uint32_t>& apart = {});

}}  // namespace c3::workloads
