#include "results/result_export.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "results/csv_line.hpp"
#include "results/schema.hpp"
#include "results/text_table.hpp"

namespace c3 {
namespace {

std::vector<std::string> all_headings(std::span<const ResultTable> tables) {
  std::vector<std::string> headings{"strategy"};
  for (const auto& table : tables) {
    for (const auto& column : table.columns) {
      const auto name = csv_heading(column.spec);
      if (std::ranges::find(headings, name) == headings.end()) headings.push_back(name);
    }
  }
  return headings;
}

std::string cell(const ColumnData& column, std::size_t row) {
  return std::visit([row](const auto& values) { return fmt::format("{}", values[row]); }, column.values);
}

/// Calls \p write with every row of every table as texts, in the order of \p headings.
template <class Write>
void for_each_row(std::span<const ResultTable> tables, const std::vector<std::string>& headings,
                  const Write& write) {
  for (const auto& table : tables) {
    std::vector<std::size_t> places;
    for (const auto& column : table.columns) {
      const auto place = std::ranges::find(headings, csv_heading(column.spec)) - headings.begin();
      places.push_back(static_cast<std::size_t>(place));
    }
    for (std::size_t row = 0; row < table.rows(); ++row) {
      std::vector<std::string> cells(headings.size());
      cells.front() = table.strategy;
      for (std::size_t i = 0; i < places.size(); ++i)
        cells[places[i]] = cell(table.columns[i], row);
      write(std::move(cells));
    }
  }
}

}  // namespace

std::string to_csv(std::span<const ResultTable> tables) {
  const auto headings = all_headings(tables);
  auto csv = csv_line(headings);
  for_each_row(tables, headings, [&](const std::vector<std::string>& cells) { csv += csv_line(cells); });
  return csv;
}

std::string to_text(std::span<const ResultTable> tables) {
  const auto headings = all_headings(tables);
  TextTable text(headings);
  for_each_row(tables, headings, [&](std::vector<std::string> cells) { text.add(std::move(cells)); });
  return text.text();
}

std::string to_json(std::span<const ResultTable> tables) {
  using Json = nlohmann::ordered_json;
  Json list = Json::array();
  for (const auto& table : tables) {
    Json columns = Json::object();
    for (const auto& column : table.columns) {
      std::visit([&](const auto& values) { columns[csv_heading(column.spec)] = values; }, column.values);
    }
    list.push_back({{"strategy", table.strategy}, {"table", table.name}, {"columns", std::move(columns)}});
  }
  return Json{{"schema_version", kJsonSchemaVersion}, {"tables", std::move(list)}}.dump() + '\n';
}

}  // namespace c3
