#include "results/csv_line.hpp"

#include <string_view>

namespace c3::inline results {
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

// "ps" and "B/s" become a suffix; "1", "1/s", "see unit" and the flop of "..flops" do not.
std::string csv_heading(const ColumnSpec& spec) {
  const bool is_word = spec.units.find(' ') == std::string::npos;
  if (spec.units.starts_with('1') || !is_word || spec.name.ends_with(spec.units + "s")) return spec.name;
  std::string suffix = spec.units;
  if (const auto slash = suffix.find('/'); slash != std::string::npos) suffix.replace(slash, 1, "_per_");
  return spec.name + "_" + suffix;
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

}  // namespace c3::results
