#pragma once
/// Rows of tables, as views of the text that they come from.

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "importers/logs/library_log.hpp"

namespace c3 { inline namespace importers {

struct TableRow {
  std::uint32_t line = 0;  ///< 0 in JSON
  std::string_view text;
  std::vector<std::string_view> cells;  ///< one for each column
  std::string name = {};                ///< "results[3]" in JSON, else empty
};

/// The column of the text at which \p cell of \p row is, from 1; 1 where the text does not hold it.
std::uint32_t column_in(const TableRow& row, std::string_view cell);

/// What nccl-tests or rccl-tests measured, under one set of columns with their own names in lower case.
/// Columns that exist for both places begin with `oop_` (out of place) or `ip_` (in place), and times end in
/// `_us`. When a file has several tests, columns `op`, `gpus` and `hosts` say to which a row belongs.
struct TestRows {
  std::vector<std::string> columns;
  std::uint32_t header_line = 1;
  std::vector<TableRow> rows;
  std::vector<std::string> broken;  ///< rows that are none: what is wrong with each, with its place
  std::string_view collective;      ///< the program's name, of a file with one test that says it
  std::deque<std::string> words;    ///< owns the words that cells view
  LibraryLog log;
};

}}  // namespace c3::importers
