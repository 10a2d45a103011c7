#pragma once
/// Lines of a CSV file (RFC 4180).

#include <string>
#include <vector>

namespace c3 { inline namespace base {

/// \returns \p text with an apostrophe before it where a spreadsheet would compute it as a formula: it begins
/// with = + - @, a tab or a carriage return. For cells that hold texts of the user, not for numbers.
std::string not_a_formula(const std::string& text);

/// Appends \p text to \p line, quoted where it must be.
void append_csv_cell(std::string& line, const std::string& text);

/// \p cells with commas between, quoted where they must be, and a line's end.
std::string csv_line(const std::vector<std::string>& cells);

}}  // namespace c3::base
