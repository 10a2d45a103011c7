#include "configs/tables/length_table.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "configs/tables/csv_scanner.hpp"

namespace c3 { inline namespace configs {
namespace {

constexpr double kMost = 1e9;

class LengthRows : CsvTable {
 public:
  using CsvTable::CsvTable;

  std::map<std::int64_t, std::int64_t> counts() {
    read();
    return std::move(counts_);
  }

 private:
  void read_header() override {
    std::optional<std::size_t> length;
    for (std::size_t i = 0; i < cells().size(); ++i) {
      const std::string name = plain_column(cells()[i]);
      if (!length && std::ranges::count(kLengthColumns, name) > 0) length = i;
      if (name == "count") count_ = i;
    }
    if (!length)
      fail("header", fmt::format("lacks a column, one of {}; it has {}", fmt::join(kLengthColumns, ", "),
                                 fmt::join(cells(), ", ")));
    length_ = *length;
  }

  void read_row() override {
    counts_[number(cells()[length_], "length")] += count_ ? number(cells()[*count_], "count") : 1;
  }

  /// The nearest whole number: logs have means of a batch.
  std::int64_t number(std::string_view cell, std::string_view key) const {
    double value = 0.0;
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    if (error != std::errc() || end != cell.data() + cell.size() || !(value >= 0.5 && value <= kMost))
      fail(cell, key, fmt::format("'{}' is not a number from 1 to {:g}", cell.substr(0, 40), kMost));
    return std::llround(value);
  }

  std::size_t length_ = 0;
  std::optional<std::size_t> count_;
  std::map<std::int64_t, std::int64_t> counts_;
};

}  // namespace

std::vector<LengthCount> read_length_counts(const std::filesystem::path& file) {
  std::vector<LengthCount> counts;
  for (const auto& [length, count] : LengthRows(file).counts())
    counts.push_back({length, count});
  return counts;
}

}}  // namespace c3::configs
