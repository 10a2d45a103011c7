#pragma once
/// Rows of measured tables that rows of cases name.

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "importers/collective_times/headed_table.hpp"
#include "studies/cases/cells.hpp"

namespace c3 { inline namespace studies {

/// Tables below the data folder, each read once.
class MeasuredTables {
 public:
  explicit MeasuredTables(std::filesystem::path data) : data_(std::move(data)) {}

  /// The rows of \p file that are as \p wanted says: `column=cell`, or `column~part of the cell`, several with
  /// `;` between. They last as long as this. \throws std::invalid_argument for a column that there is not;
  /// ConfigError, IoError for the table
  std::vector<Cells> rows(const std::string& file, std::string_view wanted);
  /// The only one. \throws std::invalid_argument, too, when there is none or several
  Cells row(const std::string& file, std::string_view wanted);

 private:
  std::filesystem::path data_;
  std::map<std::string, HeadedTable> tables_;
};

}}  // namespace c3::studies
