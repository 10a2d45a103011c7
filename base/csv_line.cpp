#include "base/csv_line.hpp"

#include <string_view>

namespace c3 { inline namespace base {
namespace {

/// A spreadsheet takes a cell that begins with one of these for a formula and computes it, also when it is
/// quoted.
constexpr std::string_view kFormulaStarts = "=+-@\t\r";

}  // namespace

std::string not_a_formula(const std::string& text) {
  const bool is_formula = !text.empty() && kFormulaStarts.find(text.front()) != std::string_view::npos;
  return is_formula ? "'" + text : text;
}

void append_csv_cell(std::string& line, const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) {
    line += text;
    return;
  }
  line += '"';
  for (const char c : text)
    line += c == '"' ? std::string("\"\"") : std::string(1, c);
  line += '"';
}

std::string csv_line(const std::vector<std::string>& cells) {
  std::string line;
  for (const auto& text : cells) {
    append_csv_cell(line, text);
    line += ',';
  }
  line.back() = '\n';
  return line;
}

}}  // namespace c3::base
