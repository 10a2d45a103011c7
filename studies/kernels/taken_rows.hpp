#pragma once
/// The rows of published tables that say how they were taken.

#include <filesystem>
#include <string>
#include <vector>

#include "studies/kernels/protocol.hpp"

namespace c3 { inline namespace studies {

/// A GEMM table of ai-dynamo/aiconfigurator. \throws ConfigError, IoError
std::vector<TakenRow> read_taken(const std::filesystem::path& file);

/// Its table of B200, each product twice in turn: six repeats, and a second of them. \throws as read_taken
std::vector<TakenRow> read_taken_pairs(const std::filesystem::path& file);

/// Arithmetic of \p shape.
double flops_of(const GemmShape& shape);

/// m, n and k at least 512.
bool is_large(const GemmShape& shape);

/// Rows of one block err alike: the same n and k, whatever m is.
std::uint64_t block_of(const GemmShape& shape);

}}  // namespace c3::studies
