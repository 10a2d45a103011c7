#include "studies/checked_row.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/nearest_name.hpp"
#include "engine/errors.hpp"
#include "studies/cell_numbers.hpp"

namespace c3 { inline namespace studies {

std::string CheckedRow::text(std::string_view column) const {
  if (cell(column).empty()) fail(column, "is missing");
  return std::string(cell(column));
}

std::size_t CheckedRow::one_of(std::string_view column, std::span<const std::string_view> names) const {
  const auto found = std::ranges::find(names, cell(column));
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  fail(column, unknown_name(column, cell(column), std::vector<std::string>(names.begin(), names.end())));
}

double CheckedRow::above_0(std::string_view column) const {
  return number_above_0(cell(column), [&](const std::string& reason) { fail(column, reason); });
}

double CheckedRow::from_0(std::string_view column) const {
  return number_from_0(cell(column), [&](const std::string& reason) { fail(column, reason); });
}

std::int64_t CheckedRow::whole(std::string_view column, std::int64_t largest) const {
  return whole_number(cell(column), largest, [&](const std::string& reason) { fail(column, reason); });
}

void CheckedRow::fail(std::string_view column, const std::string& reason) const {
  throw table_.error(row_, cell(column), column, reason);
}

void read_rows(const std::filesystem::path& file, std::string_view what, std::vector<std::string>& broken,
               const std::function<void(const CheckedRow&)>& read) {
  const HeadedTable table(file);
  for (const HeadedTable::Row& cells : table.rows()) {
    try {
      read(CheckedRow(table, cells, what));
    } catch (const ConfigError& error) {
      broken.emplace_back(error.what());
    }
  }
}

}}  // namespace c3::studies
