#pragma once

#include <string>
#include <vector>

namespace c3 { inline namespace results {

inline constexpr const char* kAbsentCell = "-";

/// A table as texts: the terminal and the page print the same.
struct StudyCells {
  std::vector<std::string> header;
  /// Each has as many cells as the header; absent numbers are kAbsentCell.
  std::vector<std::vector<std::string>> rows;
  std::string notes;  ///< lines that explain the columns
};

}}  // namespace c3::results
