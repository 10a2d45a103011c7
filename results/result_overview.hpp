#pragma once
/// What `c3sim inspect` prints of a whole file, for people and as JSON.

#include <string>

#include "results/result_reader.hpp"

namespace c3 { inline namespace results {

/// Attributes, then for each strategy in \p strategies its time, row counts, busiest resources, board power and
/// first collectives.
std::string overview_text(const ResultReader& file, const std::vector<std::string>& strategies);
std::string overview_json(const ResultReader& file, const std::vector<std::string>& strategies);

}}  // namespace c3::results
