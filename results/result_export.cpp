#include "results/result_export.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/csv_line.hpp"
#include "base/json.hpp"
#include "results/schema.hpp"
#include "results/text_table.hpp"

namespace c3 { inline namespace results {
namespace {

void append_cell(std::string& line, const ColumnData& column, std::size_t row) {
  if (const auto* texts = std::get_if<std::vector<std::string>>(&column.values)) {
    append_csv_cell(line, not_a_formula((*texts)[row]));
  } else {
    std::visit([&](const auto& values) { fmt::format_to(std::back_inserter(line), "{}", values[row]); },
               column.values);
  }
}

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

std::string cell_text(const ColumnData& column, std::size_t row) {
  return std::visit([row](const auto& values) { return fmt::format("{}", values[row]); }, column.values);
}

/// The columns of \p table in the order of \p headings; null where it lacks one. The first is the strategy's.
std::vector<const ColumnData*> in_order(const ResultTable& table, const std::vector<std::string>& headings) {
  std::vector<const ColumnData*> columns(headings.size(), nullptr);
  for (const auto& column : table.columns) {
    const auto place = std::ranges::find(headings, csv_heading(column.spec)) - headings.begin();
    columns[static_cast<std::size_t>(place)] = &column;
  }
  return columns;
}

}  // namespace

CsvExport::CsvExport(std::span<const ResultTable> tables) : headings_(all_headings(tables)) {}

std::string CsvExport::header() const { return fmt::format("{}\n", fmt::join(headings_, ",")); }

std::string CsvExport::rows(const ResultTable& table) const {
  const auto columns = in_order(table, headings_);
  std::string csv;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    append_csv_cell(csv, not_a_formula(table.strategy));
    for (std::size_t i = 1; i < columns.size(); ++i) {
      csv += ',';
      if (columns[i] != nullptr) append_cell(csv, *columns[i], row);
    }
    csv += '\n';
  }
  return csv;
}

std::string to_text(std::span<const ResultTable> tables) {
  const auto headings = all_headings(tables);
  TextTable text(headings);
  for (const auto& table : tables) {
    const auto columns = in_order(table, headings);
    for (std::size_t row = 0; row < table.rows(); ++row) {
      std::vector<std::string> cells(headings.size());
      cells.front() = table.strategy;
      for (std::size_t i = 1; i < columns.size(); ++i) {
        if (columns[i] != nullptr) cells[i] = cell_text(*columns[i], row);
      }
      text.add(std::move(cells));
    }
  }
  return text.text();
}

std::string to_json(std::span<const ResultTable> tables) {
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

}}  // namespace c3::results
