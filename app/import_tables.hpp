#pragma once
/// The tables of an import report, for the terminal and as CSV.

#include <string>
#include <string_view>
#include <vector>

#include "workloads/traces/import_report.hpp"

namespace c3::inline app {

struct ImportTable {
  std::string_view name;  ///< of --csv
  std::string_view title;
  std::vector<std::string> columns;            ///< as on a terminal; units in brackets
  std::vector<std::vector<std::string>> rows;  ///< whole texts, "-" where nothing is known
};

/// What --csv takes.
std::vector<std::string> import_table_names();

/// All of them, also those without rows.
std::vector<ImportTable> import_tables(const ImportReport& report);

/// The tables that have rows, with long names cut and a sentence where one is needed.
std::string import_text(const ImportReport& report);

/// One table with a heading of its columns, units in brackets.
std::string import_csv(const ImportReport& report, const std::string& table);

/// Everything, times in us.
std::string import_json(const ImportReport& report);

}  // namespace c3::app
