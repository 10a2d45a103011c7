#pragma once
/// Tables of a result file as CSV, JSON or text. Units are in the names of the columns: start_ps,
/// algbw_B_per_s.

#include <span>
#include <string>
#include <vector>

#include "results/result_reader.hpp"

namespace c3 { inline namespace results {

/// CSV of tables that need not be in memory at once. One header for all, the first column is the strategy; a
/// column that a strategy lacks is empty there.
class CsvExport {
 public:
  /// \param tables one a strategy; their rows are not looked at.
  explicit CsvExport(std::span<const ResultTable> tables);

  std::string header() const;
  /// The rows of \p table, or of a part of it.
  std::string rows(const ResultTable& table) const;

 private:
  std::vector<std::string> headings_;
};

/// {schema_version, tables: [{strategy, table, columns: {name_with_unit: [values]}}]}
std::string to_json(std::span<const ResultTable> tables);
/// The same cells as in CSV, aligned.
std::string to_text(std::span<const ResultTable> tables);

}}  // namespace c3::results
