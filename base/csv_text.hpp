#pragma once
/// Comma-separated text (RFC 4180, but no cell goes on to the next line), cut into views of it.

#include <cstdint>
#include <string_view>
#include <vector>

namespace c3 { inline namespace base {

/// The lines of a text that are neither blank nor begin with '#', without their ends. A byte order mark is
/// skipped.
class CsvLines {
 public:
  explicit CsvLines(std::string_view text);

  bool next();  ///< goes to the next line; false when there is none
  std::string_view line() const { return line_; }
  std::uint32_t number() const { return number_; }  ///< counts all lines, from 1

 private:
  std::string_view rest_;
  std::string_view line_;
  std::uint32_t number_ = 0;
};

/// Cuts \p line into \p cells, without spaces around them and without their quotes; a quote that a quoted cell
/// holds stays doubled. \returns false when the last of \p cells is quoted and does not end as it should.
bool cut_cells(std::string_view line, std::vector<std::string_view>& cells);

/// Column of \p cell, a view of \p line: from 1, in code points.
std::uint32_t column_of(std::string_view line, std::string_view cell);

}}  // namespace c3::base
