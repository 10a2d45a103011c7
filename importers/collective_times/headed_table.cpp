#include "importers/collective_times/headed_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/csv_text.hpp"
#include "base/small_letters.hpp"
#include "base/trimmed.hpp"
#include "files/input_files.hpp"
#include "importers/collective_times/json_tests.hpp"
#include "importers/collective_times/printed_tests.hpp"
#include "importers/logs/log_lines.hpp"

namespace c3 { inline namespace importers {
HeadedTable::HeadedTable(const std::filesystem::path& file)
    : file_(std::make_shared<const std::string>(file.string())), text_(read_file(file)) {
  const std::string_view text(text_.data(), text_.size());
  if (is_json_text(text)) {
    take(read_json_tests(text, file_));
    return;
  }
  read_remarks(text);
  is_printed(text) ? take(read_printed_tests(text, file_)) : read_comma_separated(text);
}

void HeadedTable::take(TestRows tests) {
  columns_ = std::move(tests.columns);
  header_line_ = tests.header_line;
  rows_ = std::move(tests.rows);
  broken_ = std::move(tests.broken);
  words_ = std::move(tests.words);
  log_ = std::move(tests.log);
  if (!tests.collective.empty()) remarks_.emplace_back("collective", tests.collective);
}

/// Whether \p text has a header of nccl-tests, begins with a row of one, or is a log of the library alone.
bool HeadedTable::is_printed(std::string_view text) const {
  if (has_printed_header(text) || is_library_log(text)) return true;
  CsvLines lines(text);
  if (!lines.next() || lines.line().find(',') != std::string_view::npos) return false;
  const auto words = words_of(without_launcher(lines.line()));
  return !words.empty() && number_in(words.front());
}

void HeadedTable::read_remarks(std::string_view text) {
  for_each_line(text, [this](std::uint32_t, std::string_view whole) {
    std::string_view line = without_launcher(whole);
    if (!line.starts_with('#')) return;
    line.remove_prefix(1);
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
    std::string lower = in_small_letters(name);
    if (!lower.empty() && std::ranges::find(columns_, lower) != columns_.end())
      throw ConfigError({file_, header_line_, column_of(header_, name)}, name, "is there twice");
    columns_.push_back(std::move(lower));
  }
  while (lines.next()) {
    Row row{.line = lines.number(), .text = lines.line(), .cells = {}};
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
  return {file_, row.line, column_in(row, cell)};
}

ConfigError HeadedTable::error(const Row& row, std::string_view cell, std::string_view key,
                               std::string_view reason) const {
  if (row.name.empty()) return {place_of(row, cell), key, reason};
  return {place_of(row, cell), fmt::format("{}.{}", row.name, key), reason};
}

ConfigError HeadedTable::header_error(std::string_view column, std::string_view reason) const {
  return {{file_, header_line_, 1}, column.empty() ? "header" : column, reason};
}

}}  // namespace c3::importers
