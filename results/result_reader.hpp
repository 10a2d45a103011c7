#pragma once
/// Reads back what ResultFile and TimelineWriter wrote.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "results/hdf5_column.hpp"
#include "results/hdf5_handle.hpp"

namespace c3 { inline namespace results {

/// Equal-length columns, in the order they were written.
struct ResultTable {
  std::string path;  ///< path of the file
  std::string strategy;
  std::string name;
  std::vector<ColumnData> columns;

  std::size_t rows() const;
  bool has(std::string_view column) const;
  /// The values of a column. T is std::int64_t, double or std::string.
  /// \throws IoError when the file has no such column of this type: it is damaged.
  template <class T>
  const std::vector<T>& values(std::string_view column) const;
};

/// What of a table to read.
struct TablePart {
  std::vector<std::string> columns = {};  ///< empty: all
  RowRange rows = {};
  bool as_texts =
      true;  ///< names of activities, resources and so on are texts, else rows of ResultReader::names()
};

class ResultReader {
 public:
  /// \throws IoError when \p path is not a whole run file of a schema version we know.
  explicit ResultReader(const std::filesystem::path& path);

  const std::string& path() const noexcept { return path_; }
  /// Name and text of every root attribute.
  std::vector<std::pair<std::string, std::string>> attributes() const;
  /// \throws IoError when there is none: an older c3sim made the file.
  std::string attribute(const std::string& name) const;
  std::uint64_t number(const std::string& attribute) const;  ///< likewise, and when it is no number
  std::vector<std::string> streams() const;                  ///< names, by the number that activities have
  std::vector<std::string> strategies() const;
  /// Why strategies are missing, and which, in one sentence; absent in a complete file.
  std::optional<std::string> incomplete() const;
  /// A table's attribute; absent when it has none of this name.
  std::optional<std::string> attribute(const std::string& strategy, const std::string& table,
                                       const std::string& name) const;
  bool has_table(const std::string& strategy, const std::string& table) const;
  /// \p table is a path below the strategy, e.g. "activities" or "resources/steps". Names of
  /// activities, resources and so on are texts, not numbers, unless \p part says so.
  /// \throws InterruptedError after a signal, where install_interrupt_handler() was called
  ResultTable table(const std::string& strategy, const std::string& table, const TablePart& part = {}) const;
  /// Every text that tables point to.
  const std::vector<std::string>& names() const noexcept { return names_; }
  std::uint64_t rows(const std::string& strategy, const std::string& table) const;  ///< without reading them

 private:
  /// Replaces the integers of a column that indexes texts by those texts.
  void resolve(ColumnData& column, const std::string& strategy) const;

  std::string path_;
  H5Id file_;
  std::vector<std::string> names_;
};

/// Reads a table kChunkRows rows at a time, so that memory does not grow with it.
class TableBlocks {
 public:
  /// \p file outlives the blocks. The rows of \p part are not looked at.
  TableBlocks(const ResultReader& file, std::string strategy, std::string table, TablePart part = {});
  /// \returns the next rows, nullopt after the last.
  std::optional<ResultTable> next();

 private:
  const ResultReader& file_;
  std::string strategy_, table_;
  TablePart part_;
  std::uint64_t rows_;
};

}}  // namespace c3::results
