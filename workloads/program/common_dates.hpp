#pragma once
/// Which classes of ranks do everything at the same dates, although they meet unlike ranks.

#include <cstdint>
#include <vector>

#include "interconnect/rank_partition.hpp"
#include "workloads/program/program.hpp"

namespace c3 { inline namespace workloads {

/// What tells ranks apart beside their programs: by rank, equal numbers where nothing does. Empty: nothing does
/// anywhere.
struct RankDifferences {
  std::vector<std::uint32_t> all;        ///< whatever it is
  std::vector<std::uint32_t> begins;     ///< of it, when they begin
  std::vector<std::uint32_t> kernels;    ///< how long kernels take them
  std::vector<std::uint32_t> transfers;  ///< how fast they send and receive
};

/// The \p classes of rank_classes, made one where they have a script, differ in nothing, share nodes with the
/// same ranks, have the same part in every call, and begin and end every operation at equal dates: what a rank
/// meets matters by its dates alone.
/// Ranks 0 and 1, which reduce together and then send to 4 and 5, are alike also where 5 has more to do than 4,
/// as long as 4 and 5 reduce together before they receive.
///
/// Dates are compared without their values: the program is run on one rank of each class, and every operation's
/// end gets a number that is equal where the same follows from equal numbers: a kernel after equal begins, a
/// collective after the equal begins of its members, messages among exchanges whose begins, sizes and
/// neighbours are equal (colour refinement). It says nothing of operations that share a GPU: ranks with a host,
/// or with operations on several streams, stay as they are, and so does every rank where some wait for ever.
///
/// Then members of a class may belong to groups of unlike classes, as 0 and 1 send to 4 and 5: such groups
/// begin and end together. \param node_gpus ranks of a node, which are neighbours
RankPartition merge_common_dates(const Program& program, const RankPartition& classes, int node_gpus,
                                 const RankDifferences& differences = {});

}}  // namespace c3::workloads
