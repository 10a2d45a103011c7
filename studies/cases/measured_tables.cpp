#include "studies/cases/measured_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "base/nearest_name.hpp"

namespace c3 { inline namespace studies {
namespace {

struct Wanted {
  std::size_t column;
  std::string text;
  bool is_part;

  bool is(const HeadedTable::Row& row) const {
    const std::string_view cell = row.cells[column];
    return is_part ? cell.find(text) != std::string_view::npos : cell == text;
  }
};

std::vector<Wanted> wanted_of(const HeadedTable& table, std::string_view text) {
  std::vector<Wanted> all;
  for (const std::string& condition : listed(text)) {
    const std::size_t sign = std::min(condition.find_first_of("=~"), condition.size());
    const std::string name = condition.substr(0, sign);
    const auto found = std::ranges::find(table.columns(), name);
    if (found == table.columns().end())
      throw std::invalid_argument(unknown_name("column", name, table.columns()));
    all.push_back({static_cast<std::size_t>(found - table.columns().begin()),
                   condition.substr(std::min(sign + 1, condition.size())), condition.substr(sign, 1) == "~"});
  }
  return all;
}

}  // namespace

std::vector<Cells> MeasuredTables::rows(const std::string& file, std::string_view wanted) {
  const HeadedTable& table = tables_.try_emplace(file, data_ / file).first->second;
  const std::vector<Wanted> all = wanted_of(table, wanted);
  std::vector<Cells> found;
  for (const HeadedTable::Row& row : table.rows())
    if (std::ranges::all_of(all, [&](const Wanted& condition) { return condition.is(row); }))
      found.emplace_back(table, row);
  return found;
}

Cells MeasuredTables::row(const std::string& file, std::string_view wanted) {
  const std::vector<Cells> found = rows(file, wanted);
  if (found.size() != 1)
    throw std::invalid_argument(
        fmt::format("{} rows of {} are '{}', not one", found.size(), (data_ / file).string(), wanted));
  return found.front();
}

}}  // namespace c3::studies
