#include "base/csv_text.hpp"

#include <algorithm>

#include "base/trimmed.hpp"

namespace c3 { inline namespace base {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::string_view kSpaces = " \t";

/// The position of the closing quote of the quoted cell at the start of \p text; npos when it has none.
std::size_t closing_quote(std::string_view text) {
  for (std::size_t quote = text.find('"', 1); quote < text.size(); quote = text.find('"', quote + 2)) {
    const bool doubled = quote + 1 < text.size() && text[quote + 1] == '"';
    if (!doubled) return quote;
  }
  return std::string_view::npos;
}

}  // namespace

CsvLines::CsvLines(std::string_view text) : rest_(text) {
  if (rest_.starts_with(kByteOrderMark)) rest_.remove_prefix(kByteOrderMark.size());
}

bool CsvLines::next() {
  while (!rest_.empty()) {
    const std::size_t end = rest_.find('\n');
    line_ = rest_.substr(0, end);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    ++number_;
    if (line_.ends_with('\r')) line_.remove_suffix(1);
    if (!line_.starts_with('#') && !trimmed(line_).empty()) return true;
  }
  return false;
}

bool cut_cells(std::string_view line, std::vector<std::string_view>& cells) {
  cells.clear();
  for (std::string_view rest = line;;) {
    const std::size_t first = std::min(rest.find_first_not_of(kSpaces), rest.size());
    std::size_t comma = rest.find(',');
    if (rest.substr(first).starts_with('"')) {
      const std::string_view quoted = rest.substr(first);
      const std::size_t quote = closing_quote(quoted);
      cells.push_back(quoted);
      if (quote == std::string_view::npos) return false;
      comma = rest.find(',', first + quote);
      if (!trimmed(rest.substr(0, comma)).ends_with('"') || trimmed(rest.substr(0, comma)).size() != quote + 1)
        return false;
      cells.back() = quoted.substr(1, quote - 1);
    } else {
      cells.push_back(trimmed(rest.substr(0, comma)));
    }
    if (comma == std::string_view::npos) return true;
    rest.remove_prefix(comma + 1);
  }
}

std::uint32_t column_of(std::string_view line, std::string_view cell) {
  const auto before = line.substr(0, static_cast<std::size_t>(cell.data() - line.data()));
  const auto is_first_of_code_point = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; };
  return static_cast<std::uint32_t>(std::ranges::count_if(before, is_first_of_code_point)) + 1;
}

}}  // namespace c3::base
