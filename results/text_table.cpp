#include "results/text_table.hpp"

#include <algorithm>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>

#include "results/shown_text.hpp"

namespace c3 { inline namespace results {
namespace {

constexpr std::string_view kBetween = "  ";
constexpr std::size_t kLongestCell = 200;

}  // namespace

void TextTable::add(std::vector<std::string> row) {
  if (row.size() != rows_.front().size())
    throw std::invalid_argument("a row must have as many cells as the header");
  for (std::string& cell : row)
    cell = shown_word(cell, kLongestCell);
  rows_.push_back(std::move(row));
}

std::vector<std::size_t> TextTable::widths() const {
  std::vector<std::size_t> widths(rows_.front().size(), 0);
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], row[i].size());
  }
  return widths;
}

std::size_t TextTable::width() const {
  std::size_t width = kBetween.size() * (rows_.front().size() - 1);
  for (const std::size_t column : widths())
    width += column;
  return width;
}

std::string TextTable::text() const {
  const std::vector<std::size_t> widths = this->widths();
  std::string text;
  for (const auto& row : rows_) {
    auto line = fmt::format("{:<{}}", row.front(), widths.front());
    for (std::size_t i = 1; i < row.size(); ++i)
      line += fmt::format("{}{:>{}}", kBetween, row[i], widths[i]);
    const auto length = line.size();
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
    if (&row == &rows_.front()) text += std::string(length, '-') + '\n';
  }
  return text;
}

}}  // namespace c3::results
