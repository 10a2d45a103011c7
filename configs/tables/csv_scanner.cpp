#include "configs/tables/csv_scanner.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "base/csv_text.hpp"
#include "configs/toml/config_error.hpp"

namespace c3 { inline namespace configs {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 20U;  // bytes
constexpr std::size_t kLongestLine = 16 * kPiece;

}  // namespace

std::string plain_column(std::string_view name) {
  std::string text;
  for (const char c : name)
    text += c == '_' ? ' ' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

CsvScanner::CsvScanner(const std::filesystem::path& path)
    : file_(path), name_(std::make_shared<const std::string>(path.string())) {}

void CsvScanner::scan(const std::function<void(std::string_view line, std::uint32_t number)>& take) {
  std::string text;
  std::size_t begun = 0;  // bytes of a line that is not whole
  while (true) {
    text.resize(begun + kPiece);
    const std::size_t read = file_.read({text.data() + begun, kPiece});
    text.resize(begun + read);
    const std::size_t whole = read == 0 ? text.size() : text.rfind('\n') + 1;
    take_lines({text.data(), whole}, take);
    if (read == 0) return;
    text.erase(0, whole);
    begun = text.size();
    if (begun > kLongestLine)
      throw ConfigError({name_, before_ + 1, 1}, "row", fmt::format("is longer than {} bytes", kLongestLine));
  }
}

void CsvScanner::take_lines(std::string_view text,
                            const std::function<void(std::string_view, std::uint32_t)>& take) {
  CsvLines lines(text);
  while (lines.next())
    take(lines.line(), before_ + lines.number());
  before_ += static_cast<std::uint32_t>(std::ranges::count(text, '\n'));
}

void CsvTable::read() {
  lines_.scan([this](std::string_view line, std::uint32_t number) {
    line_ = line;
    number_ = number;
    const bool is_header = columns_ == 0;
    if (!cut_cells(line_, cells_))
      fail(cells_.back(), is_header ? "header" : "row",
           fmt::format("a quoted {} does not end", is_header ? "name" : "cell"));
    if (is_header) {
      columns_ = cells_.size();
      return read_header();
    }
    ++rows_;
    if (cells_.size() != columns_)
      fail(cells_[std::min(columns_, cells_.size() - 1)], "row",
           fmt::format("has {} cells, the header {}", cells_.size(), columns_));
    read_row();
  });
  if (columns_ == 0) throw ConfigError({lines_.name(), 1, 1}, "header", "is missing: the file has no line");
  if (rows_ == 0) throw ConfigError({lines_.name(), number_, 1}, "row", "is missing: the table has no row");
}

void CsvTable::fail(std::string_view cell, std::string_view key, const std::string& reason) const {
  throw ConfigError({lines_.name(), number_, column_of(line_, cell)}, key, reason);
}

}}  // namespace c3::configs
