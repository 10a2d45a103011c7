#pragma once
/// Embedding bags: sums of rows of tables.

#include <cstdint>
#include <vector>

#include "base/enum_names.hpp"
#include "gpu/kernels/embedding/row_reuse.hpp"
#include "gpu/kernels/operator.hpp"
#include "gpu/spec.hpp"

namespace c3 { inline namespace gpu {

/// How the backward pass changes the rows.
enum class RowUpdate : std::uint8_t {
  sgd,        ///< every lookup reads its row, adds the gradient of its bag, and writes it back
  exact_sgd,  ///< lookups have been sorted by row: all gradients of a row are added up, then it is written
  exact_rowwise_adagrad,  ///< the same, with a moment of 4 bytes for each row
};
constexpr auto enum_names(RowUpdate) {
  return std::to_array<EnumName<RowUpdate>>({{"sgd", RowUpdate::sgd},
                                             {"exact_sgd", RowUpdate::exact_sgd},
                                             {"exact_rowwise_adagrad", RowUpdate::exact_rowwise_adagrad}});
}
/// Whether its lookups must be sorted by row before.
constexpr bool is_exact(RowUpdate update) { return update != RowUpdate::sgd; }

/// `tables` alike, in one kernel: for each bag of each table the sum of `lookups` of its rows. \see others
struct EmbeddingShape {
  std::int64_t bags = 0;  ///< of each table: the batch
  std::int64_t tables = 1;
  std::int64_t rows = 0;     ///< of a table
  std::int64_t cols = 0;     ///< elements of a row
  std::int64_t lookups = 0;  ///< of a bag, on average
  DType dtype = DType::fp32;
  Pass pass = Pass::forward;
  RowUpdate update = RowUpdate::exact_sgd;  ///< of the backward pass
  bool is_weighted = false;                 ///< every lookup has a weight of 4 bytes
  ReuseProfile reuse = ReuseProfile::uniform;
  ReuseHistogram histogram = {};  ///< where `reuse` is custom
  double resident = 1.0;          ///< share of the rows that the GPU's memory holds, all looked-up ones
  std::vector<EmbeddingShape> others = {};  ///< unlike tables in the same kernel, of the same pass

  bool operator==(const EmbeddingShape&) const = default;
};

const OperatorClass& operator_class(const EmbeddingShape& shape);

/// Which rows of one of its own tables are looked up.
RowReuse reuse_of(const EmbeddingShape& shape);
/// All lookups of all tables, others included.
double all_lookups(const EmbeddingShape& shape);
/// Of a row of its own tables in memory, in sectors of 32 bytes.
Bytes row_bytes(const EmbeddingShape& shape);
/// What the GPU's memory holds of all tables, others included, and of the moments of their rows.
Bytes table_bytes(const EmbeddingShape& shape);

}}  // namespace c3::gpu
