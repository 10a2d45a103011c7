#pragma once
/// Which rank looks up what of each table.

#include <cstdint>
#include <optional>
#include <vector>

#include "collectives/spec.hpp"
#include "workloads/recommendation/job.hpp"

namespace c3 { inline namespace workloads {

NodeRanks node_ranks_of(const ClusterSpec& cluster);

/// A rank's part of a table, as one kernel of it alone.
struct TablePart {
  std::size_t table = 0;  ///< of the job
  EmbeddingShape shape;   ///< forward
  Bytes fetched;          ///< that a batch brings from the host, each row once, and takes back there
};

/// The part of \p table of \p job that a rank with a part of it has. By table and by column it has all samples'
/// bags, by row and by grid all samples' bags with its share of their lookups, data-parallel its own samples'
/// bags. If the table is the host's, the GPU holds the cached rows and those that a batch fetches:
/// RowReuse::distinct_beyond. Wrong when: memory is migrated page by page.
TablePart part_of(const RecommendationJob& job, std::size_t table, NodeRanks grid);
/// All that the rank \p rank looks up.
std::vector<TablePart> parts_of(const RecommendationJob& job, int rank, NodeRanks grid);

/// All of them in one kernel, as batched kernels do it; absent where there are none.
std::optional<EmbeddingShape> kernel_of(const std::vector<TablePart>& parts);

/// Whether a table is to be placed: by table, and without a rank.
bool is_free(const EmbeddingTable& table);

/// What \p rank holds of tables.
Bytes table_memory(const RecommendationJob& job, int rank, NodeRanks grid);

/// Tables that have no ranks yet get them: by table the next rank, by column all ranks.
/// \throws InfeasibleError, naming the table, when a rank is not there, columns cannot be divided, or a grid
/// has one node.
RecommendationJob placed(RecommendationJob job, NodeRanks grid);

/// Columns of all tables that are shared so, of the whole or, by grid, of a node's part.
std::int64_t shared_columns(const RecommendationJob& job, TableSharding sharding, NodeRanks grid);
/// Bytes from each rank (row) to each other one: sums of tables by table and by column, forward.
std::vector<Bytes> sums_sent(const RecommendationJob& job, NodeRanks grid);
/// Bytes of indices, and of weights, from the ranks that load samples to those that look them up.
std::vector<Bytes> indices_sent(const RecommendationJob& job, NodeRanks grid);

/// \throws InfeasibleError when the samples cannot be divided, or a rank's tables do not fit into \p memory.
void check_placement(const RecommendationJob& job, NodeRanks grid, Bytes memory);

}}  // namespace c3::workloads
