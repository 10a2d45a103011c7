#pragma once
/// The rows of published tables that say how they were taken.

#include <filesystem>
#include <string>
#include <vector>

#include "studies/checked_row.hpp"
#include "studies/kernels/protocol.hpp"

namespace c3 { inline namespace studies {

inline constexpr std::int64_t kLargestSize = std::int64_t{1} << 40U;  ///< of a table's cells

/// A GEMM table of ai-dynamo/aiconfigurator. \throws ConfigError, IoError
std::vector<TakenRow> read_taken(const std::filesystem::path& file);

/// Its table of B200, each product twice in turn: six repeats, and a second of them. \throws as read_taken
std::vector<TakenRow> read_taken_pairs(const std::filesystem::path& file);

/// A shape: columns m, n and k of \p row.
GemmShape shape_in(const CheckedRow& row, DType dtype);

/// Arithmetic of \p shape.
double flops_of(const GemmShape& shape);

/// m, n and k at least 512.
bool is_large(const GemmShape& shape);

/// Rows of one block err alike: the same n and k, whatever m is.
std::uint64_t block_of(const GemmShape& shape);

}}  // namespace c3::studies
