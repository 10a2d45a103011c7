#pragma once
/// A table in a text file whose columns have names: comma-separated (the header may be a comment, as in
/// `# GPUs,time`), or as nccl-tests and rccl-tests print or write it.

#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "configs/toml/config_error.hpp"
#include "importers/collective_times/cell_text.hpp"
#include "importers/collective_times/table_rows.hpp"
#include "importers/logs/library_log.hpp"

namespace c3 { inline namespace importers {

/// A table with a header. Its views last as long as it does.
class HeadedTable {
 public:
  using Row = TableRow;

  /// What nccl-tests and rccl-tests print (read_printed_tests) and write (read_json_tests) is known by its
  /// content; all else is comma-separated. \throws ConfigError for a file without a header, and a column that
  /// is there twice; IoError
  explicit HeadedTable(const std::filesystem::path& file);
  HeadedTable(const HeadedTable&) = delete;
  HeadedTable& operator=(const HeadedTable&) = delete;
  HeadedTable(HeadedTable&&) = default;
  HeadedTable& operator=(HeadedTable&&) = default;
  ~HeadedTable() = default;

  const std::string& file() const { return *file_; }
  const std::vector<std::string>& columns() const { return columns_; }  ///< names in lower case
  const std::vector<Row>& rows() const { return rows_; }
  /// Rows that are none: what is wrong with each, with its place.
  const std::vector<std::string>& broken() const { return broken_; }
  /// The first of \p names that is a column.
  std::optional<std::size_t> find(std::initializer_list<std::string_view> names) const;
  /// Like find(). \throws ConfigError that says which column is missing, and \p what it is for
  std::size_t need(std::initializer_list<std::string_view> names, std::string_view what) const;
  /// The value in a comment `# key: value`. Empty when there is none.
  std::string_view remark(std::string_view key) const;
  /// What the file says of the job, where it is the output of one.
  const LibraryLog& log() const { return log_; }

  Origin place_of(const Row& row, std::string_view cell) const;
  ConfigError error(const Row& row, std::string_view cell, std::string_view key, std::string_view reason) const;
  /// An error in the header. \param column its name; without one: the line
  ConfigError header_error(std::string_view column, std::string_view reason) const;

 private:
  void take(TestRows tests);
  void read_remarks(std::string_view text);
  bool is_printed(std::string_view text) const;
  void read_comma_separated(std::string_view text);
  bool read_marked_header(std::string_view text, std::string_view first_row);

  std::shared_ptr<const std::string> file_;
  std::vector<char> text_;
  std::vector<std::string> columns_;
  std::uint32_t header_line_ = 1;
  std::string_view header_;
  std::vector<Row> rows_;
  std::vector<std::string> broken_;
  std::vector<std::pair<std::string_view, std::string_view>> remarks_;
  std::deque<std::string> words_;  ///< cells that the text does not hold
  LibraryLog log_;
};

}}  // namespace c3::importers
