#pragma once
/// Tables of a result file as CSV, JSON or text. Units are in the names of the columns: start_ps,
/// algbw_B_per_s.

#include <span>
#include <string>

#include "results/result_reader.hpp"

namespace c3 {

/// One header for all tables, the first column is the strategy; a column that a strategy lacks is empty there.
std::string to_csv(std::span<const ResultTable> tables);
/// {schema_version, tables: [{strategy, table, columns: {name_with_unit: [values]}}]}
std::string to_json(std::span<const ResultTable> tables);
/// The same as to_csv, aligned.
std::string to_text(std::span<const ResultTable> tables);

}  // namespace c3
