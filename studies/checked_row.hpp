#pragma once
/// One line of a table of scenarios, read with its place in every complaint.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "importers/collective_times/headed_table.hpp"

namespace c3 { inline namespace studies {

/// Every member function takes the name of a column that the table has, and throws ConfigError for what is not
/// there or not allowed.
class CheckedRow {
 public:
  /// \param what a row is, as in "of every scenario"
  CheckedRow(const HeadedTable& table, const HeadedTable::Row& row, std::string_view what)
      : table_(table), row_(row), what_(what) {}

  std::string_view cell(std::string_view column) const { return row_.cells[table_.need({column}, what_)]; }
  /// Not empty.
  std::string text(std::string_view column) const;
  /// Position of the cell in \p names.
  std::size_t one_of(std::string_view column, std::span<const std::string_view> names) const;
  double above_0(std::string_view column) const;
  double from_0(std::string_view column) const;
  /// A whole number from 1 to \p largest.
  std::int64_t whole(std::string_view column, std::int64_t largest) const;

  [[noreturn]] void fail(std::string_view column, const std::string& reason) const;

 private:
  const HeadedTable& table_;
  const HeadedTable::Row& row_;
  std::string_view what_;
};

/// Calls \p read for each row of the table \p file; what is wrong with a row is added to \p broken.
/// \throws ConfigError for a table without a column, IoError
void read_rows(const std::filesystem::path& file, std::string_view what, std::vector<std::string>& broken,
               const std::function<void(const CheckedRow&)>& read);

}}  // namespace c3::studies
