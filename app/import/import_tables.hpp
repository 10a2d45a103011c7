#pragma once
/// What is reported on traces: tables for the terminal and as CSV, and JSON.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "workloads/traces/import_report.hpp"
#include "workloads/traces/node_graph_report.hpp"

namespace c3 { inline namespace app {

struct ImportTable {
  std::string_view name;  ///< name for --csv
  std::string_view title;
  std::vector<std::string> columns;            ///< headers as on a terminal; units in brackets
  std::vector<std::vector<std::string>> rows;  ///< whole texts, "-" where nothing is known
};

/// What --csv takes: tables of either report.
std::vector<std::string> import_table_names();

/// All tables of a report, also those without rows.
std::vector<ImportTable> import_tables(const ImportReport& report);
std::vector<ImportTable> import_tables(const NodeGraphReport& report);

/// \p text cut in the middle if it is long, because names of kernels differ at both ends.
std::string terminal_cell(const std::string& text);

/// A table for a terminal: long names cut, without columns that say nothing, and with as many rows as fit.
std::string terminal_text(const ImportTable& table);

/// The tables that have rows, with a sentence where one is needed.
std::string import_text(const ImportReport& report);
std::string import_text(const NodeGraphReport& report);

/// The table \p name of \p tables with a heading of its columns, units in brackets.
/// \throws UsageError if it is a table of the other report
std::string import_csv(const std::vector<ImportTable>& tables, const std::string& name);

/// What options add to the report, by key.
using ImportExtras = std::map<std::string, Json>;

/// Everything, times in us.
std::string import_json(const ImportReport& report, const ImportExtras& extras = {});
std::string import_json(const NodeGraphReport& report);

}}  // namespace c3::app
