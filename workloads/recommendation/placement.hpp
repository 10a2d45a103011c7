#pragma once
/// Which rank looks up what of each table.

#include <cstdint>
#include <optional>
#include <vector>

#include "workloads/recommendation/job.hpp"

namespace c3::inline workloads {

/// A rank's part of a table, as one kernel of it alone.
struct TablePart {
  std::size_t table = 0;  ///< of the job
  EmbeddingShape shape;   ///< forward
};

/// What the rank \p rank of \p ranks looks up. By table and by column all samples' bags, by row all samples'
/// bags with its share of their lookups, data-parallel its own samples' bags.
std::vector<TablePart> parts_of(const RecommendationJob& job, int rank, int ranks);

/// All of them in one kernel, as batched kernels do it; absent where there are none.
std::optional<EmbeddingShape> kernel_of(const std::vector<TablePart>& parts);

/// What \p rank holds of tables.
Bytes table_memory(const RecommendationJob& job, int rank, int ranks);

/// Tables that have no ranks yet get them: by table the next rank, by column all ranks.
/// \throws InfeasibleError, naming the table, when a rank is not there or columns cannot be divided.
RecommendationJob placed(RecommendationJob job, int ranks);

/// Bytes from each rank (row) to each other one: sums of tables by table and by column, forward.
std::vector<Bytes> sums_sent(const RecommendationJob& job, int ranks);
/// Bytes of indices, and of weights, from the ranks that load samples to those that look them up.
std::vector<Bytes> indices_sent(const RecommendationJob& job, int ranks);

/// \throws InfeasibleError when the samples cannot be divided, or a rank's tables do not fit into \p memory.
void check_placement(const RecommendationJob& job, int ranks, Bytes memory);

}  // namespace c3::workloads
