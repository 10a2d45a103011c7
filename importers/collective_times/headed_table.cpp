#include "importers/collective_times/headed_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

#include "base/csv_text.hpp"
#include "files/input_files.hpp"

namespace c3 { inline namespace importers {
namespace {

constexpr std::string_view kSpaces = " \t\r";

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  while (true) {
    const std::size_t first = line.find_first_not_of(kSpaces);
    if (first == std::string_view::npos) return words;
    line.remove_prefix(first);
    words.push_back(line.substr(0, line.find_first_of(kSpaces)));
    line.remove_prefix(words.back().size());
  }
}

bool has_word(const std::vector<std::string_view>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

/// Lines of any kind, with their numbers.
template <class Visit>
void for_each_line(std::string_view text, Visit visit) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  std::uint32_t number = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    visit(++number, text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
}

/// Columns that nccl-tests prints twice, and their names here.
constexpr std::pair<std::string_view, std::string_view> kPrintedTwice[] = {
    {"time", "time_us"}, {"algbw", "algbw"}, {"busbw", "busbw"}, {"#wrong", "wrong"}, {"error", "wrong"}};

}  // namespace

std::string in_lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kSpaces);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpaces) - first + 1);
}

std::optional<double> number_in(std::string_view cell) {
  double value = 0.0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error != std::errc() || end != cell.data() + cell.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

HeadedTable::HeadedTable(const std::filesystem::path& file)
    : file_(std::make_shared<const std::string>(file.string())), text_(read_file(file)) {
  const std::string_view text(text_.data(), text_.size());
  read_remarks(text);
  CsvLines lines(text);
  const auto words = lines.next() ? words_of(lines.line()) : std::vector<std::string_view>();
  const bool has_numbers_first = !words.empty() && number_in(words.front()).has_value();
  const bool is_printed =
      !printed_header_.empty() || (has_numbers_first && lines.line().find(',') == std::string_view::npos);
  is_printed ? read_printed(text) : read_comma_separated(text);
}

void HeadedTable::read_remarks(std::string_view text) {
  for_each_line(text, [this](std::uint32_t number, std::string_view line) {
    if (!line.starts_with('#')) return;
    line.remove_prefix(1);
    const auto words = words_of(line);
    if (has_word(words, "size") && has_word(words, "count") && has_word(words, "time")) {
      printed_header_ = line;
      header_line_ = number;
    }
    if (words.size() > 3 && words[0] == "Rank" && has_word(words, "device")) ++listed_ranks_;
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) return;
    remarks_.emplace_back(trimmed(line.substr(0, colon)), trimmed(line.substr(colon + 1)));
  });
}

/// Whether the file begins with a comment that names as many columns as there are numbers in its first row.
bool HeadedTable::read_marked_header(std::string_view text, std::string_view first_row) {
  const std::string_view first = text.substr(0, text.find_first_of("\r\n"));
  std::vector<std::string_view> names, cells;
  if (!first.starts_with('#') || !cut_cells(first.substr(1), names) || !cut_cells(first_row, cells))
    return false;
  if (names.size() != cells.size() || !number_in(cells.front())) return false;
  header_ = trimmed(first.substr(1));
  return true;
}

void HeadedTable::read_comma_separated(std::string_view text) {
  CsvLines lines(text);
  if (!lines.next()) throw ConfigError({file_, 1, 1}, "header", "is missing: the file is empty");
  if (read_marked_header(text, lines.line())) {
    lines = CsvLines(text);
  } else {
    header_ = lines.line();
    header_line_ = lines.number();
  }
  std::vector<std::string_view> names;
  const bool well_formed = cut_cells(header_, names);
  if (!well_formed) throw header_error("", "a quoted name does not end");
  if (number_in(names.front())) throw header_error("", "is missing: the first line has numbers");
  for (const std::string_view name : names) {
    std::string lower = in_lower_case(name);
    if (!lower.empty() && std::ranges::find(columns_, lower) != columns_.end())
      throw ConfigError({file_, header_line_, column_of(header_, name)}, name, "is there twice");
    columns_.push_back(std::move(lower));
  }
  while (lines.next()) {
    Row row{lines.number(), lines.line(), {}};
    if (!cut_cells(row.text, row.cells)) {
      broken_.emplace_back(error(row, row.cells.back(), "row", "a quoted cell does not end").what());
    } else if (row.cells.size() != columns_.size()) {
      const auto first_extra = row.cells[std::min(columns_.size(), row.cells.size() - 1)];
      const std::string reason = fmt::format("has {} cells, the header {}", row.cells.size(), columns_.size());
      broken_.emplace_back(error(row, first_extra, "row", reason).what());
    } else {
      rows_.push_back(std::move(row));
    }
  }
}

void HeadedTable::name_printed_columns(std::string_view header) {
  std::vector<std::string_view> seen;
  for (const std::string_view word : words_of(header)) {
    const auto* const twice =
        std::ranges::find(kPrintedTwice, word, [](const auto& pair) { return pair.first; });
    if (twice == std::end(kPrintedTwice)) {
      columns_.emplace_back(word);
    } else {
      columns_.push_back(fmt::format("{}_{}", has_word(seen, word) ? "ip" : "oop", twice->second));
      seen.push_back(word);
    }
  }
}

void HeadedTable::read_printed(std::string_view text) {
  if (!printed_header_.empty()) name_printed_columns(printed_header_);
  for_each_line(text, [this](std::uint32_t number, std::string_view line) {
    Row row{number, line, words_of(line)};
    if (row.cells.empty() || !number_in(row.cells.front())) return;
    constexpr std::size_t kWithoutRoot = 12;
    if (columns_.empty())
      name_printed_columns(row.cells.size() == kWithoutRoot
                               ? "size count type redop time algbw busbw error time algbw busbw error"
                               : "size count type redop root time algbw busbw #wrong time algbw busbw #wrong");
    if (row.cells.size() == columns_.size()) return rows_.push_back(std::move(row));
    const std::string reason = fmt::format("has {} words, its header {}", row.cells.size(), columns_.size());
    broken_.emplace_back(error(row, row.cells.front(), "row", reason).what());
  });
}

std::optional<std::size_t> HeadedTable::find(std::initializer_list<std::string_view> names) const {
  for (const std::string_view name : names) {
    const auto found = std::ranges::find(columns_, name);
    if (found != columns_.end()) return static_cast<std::size_t>(found - columns_.begin());
  }
  return std::nullopt;
}

std::size_t HeadedTable::need(std::initializer_list<std::string_view> names, std::string_view what) const {
  if (const auto found = find(names)) return *found;
  throw header_error(*names.begin(),
                     fmt::format("the column is missing: {}; there are {}", what, fmt::join(columns_, ", ")));
}

std::string_view HeadedTable::remark(std::string_view key) const {
  const auto found = std::ranges::find(remarks_, key, [](const auto& remark) { return remark.first; });
  return found == remarks_.end() ? std::string_view() : found->second;
}

Origin HeadedTable::place_of(const Row& row, std::string_view cell) const {
  return {file_, row.line, cell.data() == nullptr ? 1 : column_of(row.text, cell)};
}

ConfigError HeadedTable::error(const Row& row, std::string_view cell, std::string_view key,
                               std::string_view reason) const {
  return {place_of(row, cell), key, reason};
}

ConfigError HeadedTable::header_error(std::string_view column, std::string_view reason) const {
  return {{file_, header_line_, 1}, column.empty() ? "header" : column, reason};
}

}}  // namespace c3::importers
