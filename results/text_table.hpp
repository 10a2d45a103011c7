#pragma once
/// Aligned columns of text for a terminal.

#include <string>
#include <vector>

namespace c3 { inline namespace results {

class TextTable {
 public:
  explicit TextTable(std::vector<std::string> header) { rows_.push_back(std::move(header)); }
  /// \p row has as many cells as the header. \throws std::invalid_argument
  void add(std::vector<std::string> row);
  /// The first column aligned to the left, all others to the right, two spaces between, a rule below the
  /// header.
  std::string text() const;
  std::size_t width() const;  ///< width of its lines, in characters

 private:
  std::vector<std::size_t> widths() const;  ///< widths of its columns

  std::vector<std::vector<std::string>> rows_;
};

}}  // namespace c3::results
