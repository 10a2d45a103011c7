#pragma once
/// A table of kernel shapes: a CSV file whose header names its columns, with an operator in each row.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "configs/toml/config_error.hpp"
#include "gpu/kernels/operator.hpp"
#include "gpu/kernels/shape_words.hpp"

namespace c3 { inline namespace configs {

/// What a column of a table says: a word of the shape, or one of these.
enum class TableColumn : std::uint8_t {
  gpu = kShapeKeys.size(),
  time,   ///< measured
  split,  ///< "train" or "test"
  other,  ///< read by nobody
};
inline constexpr std::size_t kTableColumns = kShapeKeys.size() + 4;

constexpr TableColumn column_of(ShapeKey key) { return static_cast<TableColumn>(key); }

/// How some source of tables names its columns.
struct TableFormat {
  struct Column {
    std::string_view name;
    TableColumn column;
  };
  std::string_view name;
  std::span<const Column> columns;  ///< columns that a file may have
  ShapeWords words = {};            ///< for the columns that it lacks, and for empty cells
};

/// The shape's own keys, and gpu, time_us and split.
const TableFormat& shape_table_format();

struct KernelRow {
  Operator op;
  std::uint32_t line = 0;
  std::string_view text;              ///< the row as it is in the file
  std::string_view op_name;           ///< operator, spelled as written
  std::string_view gpu, time, split;  ///< their cells
};

struct BrokenRow {
  Origin at;
  std::string key;
  std::string reason;
  std::string_view text;
};

/// A table of kernels. Its views last as long as it does.
class KernelTable {
 public:
  /// Rows that say nothing sensible go to `broken`. \throws ConfigError for a header that has no, unknown or
  /// repeated columns or lacks one that a row needs; std::system_error for a file that cannot be read.
  static KernelTable read(const std::filesystem::path& file, const TableFormat& format = shape_table_format());

  std::string_view header() const { return header_; }  ///< the line as it is in the file
  bool has(TableColumn column) const { return cell_of_[static_cast<std::size_t>(column)] != kNoCell; }
  const std::vector<KernelRow>& rows() const { return rows_; }
  const std::vector<BrokenRow>& broken() const { return broken_; }
  /// The place where \p row is written. \param cell a view of its text; empty: its start.
  Origin place_of(const KernelRow& row, std::string_view cell = {}) const;

 private:
  static constexpr std::size_t kNoCell = std::string_view::npos;

  KernelTable(const std::filesystem::path& file, const TableFormat& format);
  void read_header(std::uint32_t line, const TableFormat& format);
  void read_row(std::uint32_t line, std::string_view text, const TableFormat& format);
  std::string_view cell(TableColumn column) const;
  std::string_view shape_cell(ShapeKey key) const { return cell(c3::column_of(key)); }
  void refuse_missing_column(ShapeKey key, std::string_view row) const;

  std::shared_ptr<const std::string> file_;
  std::vector<char> text_;
  std::string_view header_;
  std::uint32_t header_line_ = 1;
  std::array<std::size_t, kTableColumns> cell_of_{};  ///< indexed by TableColumn
  std::size_t columns_ = 0;
  std::vector<std::string_view> cells_;  ///< cells of the row being read
  std::vector<KernelRow> rows_;
  std::vector<BrokenRow> broken_;
};

/// The cells of the first line of \p file that has some. For telling formats apart.
std::vector<std::string> header_of(const std::filesystem::path& file);

}}  // namespace c3::configs
