#include "configs/tables/kernel_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/csv_text.hpp"
#include "base/nearest_name.hpp"
#include "files/input_files.hpp"
#include "gpu/kernels/operator_table.hpp"

namespace c3 { inline namespace configs {
namespace {

constexpr std::size_t kLongestLine = 4096;  // bytes; what is longer is no table

constexpr auto kShapeColumns = [] {
  std::array<TableFormat::Column, kShapeKeys.size() + 3> columns{};
  for (std::size_t i = 0; i < kShapeKeys.size(); ++i)
    columns.at(i) = {kShapeKeys.at(i), static_cast<TableColumn>(i)};
  columns.at(kShapeKeys.size()) = {"gpu", TableColumn::gpu};
  columns.at(kShapeKeys.size() + 1) = {"time_us", TableColumn::time};
  columns.at(kShapeKeys.size() + 2) = {"split", TableColumn::split};
  return columns;
}();

std::vector<std::string> names_of(const TableFormat& format) {
  std::vector<std::string> names;
  for (const TableFormat::Column& column : format.columns)
    names.emplace_back(column.name);
  return names;
}

}  // namespace

const TableFormat& shape_table_format() {
  static const TableFormat kFormat = {.name = "kernel shapes", .columns = kShapeColumns};
  return kFormat;
}

KernelTable KernelTable::read(const std::filesystem::path& file, const TableFormat& format) {
  return {file, format};
}

KernelTable::KernelTable(const std::filesystem::path& file, const TableFormat& format)
    : file_(std::make_shared<const std::string>(file.string())), text_(read_file(file)) {
  CsvLines lines(std::string_view(text_.data(), text_.size()));
  if (!lines.next()) throw ConfigError({file_, 1, 1}, "header", "is missing: the file has no line");
  header_ = lines.line();
  read_header(lines.number(), format);
  while (lines.next())
    read_row(lines.number(), lines.line(), format);
}

void KernelTable::read_header(std::uint32_t line, const TableFormat& format) {
  header_line_ = line;
  cell_of_.fill(kNoCell);
  std::vector<std::string_view> names;
  if (header_.size() > kLongestLine)
    throw ConfigError({file_, line, 1}, "header", fmt::format("is longer than {} bytes", kLongestLine));
  const bool well_formed = cut_cells(header_, names);
  std::string_view name;
  const auto refuse = [&](std::string_view key, const std::string& why) {
    throw ConfigError({file_, line, c3::column_of(header_, name)}, key, why);
  };
  for (std::size_t i = 0; i < names.size(); ++i) {
    name = names[i];
    const auto known = std::ranges::find(format.columns, name, &TableFormat::Column::name);
    if (known == format.columns.end()) refuse(name, unknown_name("column", name, names_of(format)));
    std::size_t& cell = cell_of_.at(static_cast<std::size_t>(known->column));
    if (cell != kNoCell && known->column != TableColumn::other) refuse(name, "is there twice");
    cell = i;
  }
  if (!well_formed) refuse(name, "a quoted name does not end");
  columns_ = names.size();
  name = header_.substr(0, 0);
  if (!has(c3::column_of(ShapeKey::op)) && format.words[ShapeKey::op].empty())
    refuse("op", "the column is missing: which operator a row is");
}

std::string_view KernelTable::cell(TableColumn column) const {
  const std::size_t at = cell_of_.at(static_cast<std::size_t>(column));
  return at < cells_.size() ? cells_[at] : std::string_view();
}

void KernelTable::refuse_missing_column(ShapeKey key, std::string_view row) const {
  if (has(c3::column_of(key))) return;
  throw ConfigError({file_, header_line_, 1}, name_of(key),
                    fmt::format("the column is missing, which rows such as '{}' need", row.substr(0, 60)));
}

void KernelTable::read_row(std::uint32_t line, std::string_view text, const TableFormat& format) {
  const auto refuse = [&](std::string_view cell, std::string_view key, std::string reason) {
    const std::uint32_t column = cell.data() == nullptr ? 1 : c3::column_of(text, cell);
    broken_.push_back({{file_, line, column}, std::string(key), std::move(reason), text});
  };
  if (text.size() > kLongestLine)
    return refuse({}, "row", fmt::format("is longer than {} bytes", kLongestLine));
  if (!cut_cells(text, cells_)) return refuse(cells_.back(), "row", "a quoted cell does not end");
  if (cells_.size() != columns_) {
    const std::string_view first_extra = cells_[std::min(columns_, cells_.size() - 1)];
    return refuse(first_extra, "row", fmt::format("has {} cells, the header {}", cells_.size(), columns_));
  }
  ShapeWords words = format.words;
  for (std::size_t i = 0; i < kShapeKeys.size(); ++i) {
    const auto key = static_cast<ShapeKey>(i);
    if (const std::string_view written = shape_cell(key); !written.empty()) words[key] = written;
  }
  try {
    rows_.push_back({.op = operator_of(words),
                     .line = line,
                     .text = text,
                     .op_name = words[ShapeKey::op],
                     .gpu = cell(TableColumn::gpu),
                     .time = cell(TableColumn::time),
                     .split = cell(TableColumn::split)});
  } catch (const ShapeError& error) {
    if (error.missing()) refuse_missing_column(error.key(), text);
    refuse(shape_cell(error.key()), name_of(error.key()), error.what());
  }
}

Origin KernelTable::place_of(const KernelRow& row, std::string_view cell) const {
  return {file_, row.line, cell.data() == nullptr ? 1 : c3::column_of(row.text, cell)};
}

std::vector<std::string> header_of(const std::filesystem::path& file) {
  const std::vector<char> text = read_file(file);
  CsvLines lines(std::string_view(text.data(), text.size()));
  std::vector<std::string_view> names;
  if (lines.next()) cut_cells(lines.line(), names);
  return {names.begin(), names.end()};
}

}}  // namespace c3::configs
