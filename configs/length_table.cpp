#include "configs/length_table.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/csv_text.hpp"
#include "configs/config_error.hpp"
#include "configs/csv_scanner.hpp"

namespace c3::inline configs {
namespace {

constexpr double kMost = 1e9;

class LengthRows {
 public:
  explicit LengthRows(const std::filesystem::path& file) : lines_(file) {}

  std::map<std::int64_t, std::int64_t> read() {
    std::map<std::int64_t, std::int64_t> counts;
    lines_.scan([&](std::string_view line, std::uint32_t number) {
      line_ = line;
      number_ = number;
      if (columns_ == 0) return read_header();
      read_row(counts);
    });
    if (counts.empty())
      throw ConfigError({lines_.name(), number_, 1}, "row", "is missing: the table has no row");
    return counts;
  }

 private:
  [[noreturn]] void fail(std::string_view cell, std::string_view key, const std::string& reason) const {
    throw ConfigError({lines_.name(), number_, column_of(line_, cell)}, key, reason);
  }

  void read_header() {
    if (!cut_cells(line_, cells_)) fail(cells_.back(), "header", "a quoted name does not end");
    columns_ = cells_.size();
    std::optional<std::size_t> length;
    for (std::size_t i = 0; i < columns_; ++i) {
      const std::string name = plain_column(cells_[i]);
      if (!length && std::ranges::count(kLengthColumns, name) > 0) length = i;
      if (name == "count") count_ = i;
    }
    if (!length)
      fail(line_, "header",
           fmt::format("lacks a column, one of {}; it has {}", fmt::join(kLengthColumns, ", "),
                       fmt::join(cells_, ", ")));
    length_ = *length;
  }

  void read_row(std::map<std::int64_t, std::int64_t>& counts) {
    if (!cut_cells(line_, cells_)) fail(cells_.back(), "row", "a quoted cell does not end");
    if (cells_.size() != columns_)
      fail(cells_[std::min(columns_, cells_.size() - 1)], "row",
           fmt::format("has {} cells, the header {}", cells_.size(), columns_));
    counts[number(cells_[length_], "length")] += count_ ? number(cells_[*count_], "count") : 1;
  }

  /// The nearest whole number: logs have means of a batch.
  std::int64_t number(std::string_view cell, std::string_view key) const {
    double value = 0.0;
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    if (error != std::errc() || end != cell.data() + cell.size() || !(value >= 0.5 && value <= kMost))
      fail(cell, key, fmt::format("'{}' is not a number from 1 to {:g}", cell.substr(0, 40), kMost));
    return std::llround(value);
  }

  CsvScanner lines_;
  std::string_view line_;
  std::uint32_t number_ = 1;
  std::vector<std::string_view> cells_;
  std::size_t columns_ = 0, length_ = 0;
  std::optional<std::size_t> count_;
};

}  // namespace

std::vector<LengthCount> read_length_counts(const std::filesystem::path& file) {
  std::vector<LengthCount> counts;
  for (const auto& [length, count] : LengthRows(file).read())
    counts.push_back({length, count});
  return counts;
}

}  // namespace c3::configs
