#pragma once
/// Tables of sequence lengths: CSV files, plain or packed by gzip, with a column of lengths and perhaps one of
/// how many sequences have each.

#include <filesystem>
#include <vector>

#include "workloads/sampling/sequence_lengths.hpp"

namespace c3 { inline namespace configs {

/// Counts sequences of each length. A row without a column `count` is one sequence.
/// \throws ConfigError for a column that is missing and a row that is broken, with its place; IoError
std::vector<LengthCount> read_length_counts(const std::filesystem::path& file);

}}  // namespace c3::configs
