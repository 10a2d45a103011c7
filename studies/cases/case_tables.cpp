#include "studies/cases/case_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <set>
#include <utility>

#include "base/nearest_name.hpp"
#include "importers/collective_times/headed_table.hpp"
#include "studies/cases/cells.hpp"
#include "studies/cases/row_figure.hpp"
#include "studies/cases/summary.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr char kOfRow = ':';

SimulatedTime simulated(const NumberSource& source, const std::vector<std::string>& wanted) {
  const std::map<std::string, double> numbers = source();
  SimulatedTime outcome;
  for (const std::string& name : wanted) {
    const auto found = numbers.find(name);
    outcome.values.push_back(found == numbers.end() ? kNaN : found->second);
    if (found != numbers.end() || !outcome.said.empty()) continue;
    std::vector<std::string> known;
    for (const auto& [known_name, value] : numbers)
      known.push_back(known_name);
    outcome.said = unknown_name("number of this row", name, known);
  }
  return outcome;
}

}  // namespace

CaseTables::CaseTables(const StudyCard& study, const std::filesystem::path& data,
                       const PublishedFigures& published) {
  for (const StudyTable& table : study.tables)
    if (table.found.empty()) tables_.push_back(read(study, table, data, published));
  for (const Table& table : tables_) {
    for (const Row& row : table.rows) {
      if (!row.name.empty() && !rows_.emplace(row.name, &row).second)
        throw ConfigError(row.at, "name", fmt::format("'{}' is there twice", row.name));
    }
  }
  note_needs();
}

void CaseTables::add_steps(std::map<std::string, Formula>& steps, const Cells& cells, const StudyTable& table) {
  std::set<std::string> left;
  for (const NamedFormula& step : table.steps)
    if (!left.insert(step.name).second) cells.fail("let", fmt::format("'{}' is there twice", step.name));
  for (const NamedFormula& step : table.steps) {
    Formula formula = cells.formula(step.formula, "let");
    for (const std::string& name : formula.names())
      if (left.contains(name))
        cells.fail("let", fmt::format("'{}' names '{}', which is not before it", step.name, name));
    left.erase(step.name);
    steps.emplace(step.name, std::move(formula));
  }
}

void CaseTables::add_formulas(Row& row, const Cells& cells, const StudyTable& table,
                              const PublishedFigures& published) {
  row.figure = figure_of(published, cells.text(table.id, "id"), cells);
  add_steps(row.steps, cells, table);
  row.formulas.emplace_back("", cells.formula(table.value, "value"));
  for (const NamedFormula& beside : table.beside)
    row.formulas.emplace_back(beside.name, cells.formula(beside.formula, "beside"));
  for (const StudySummary& summary : table.summaries) {
    Share share{.figure = figure_of(published, cells.text(summary.id, "id"), cells),
                .by = cells.text(summary.by, "by"),
                .label = cells.text(summary.label, "label"),
                .block = cells.text(summary.blocks, "blocks"),
                .columns = {}};
    for (const SummaryColumn& column : summary.columns) {
      share.columns.push_back({column.name, column.kind, cells.formula(column.value, "value"), std::nullopt});
      if (!column.where.empty()) share.columns.back().where = cells.formula(column.where, "where");
    }
    row.shares.push_back(std::move(share));
  }
  for (const ListedRow& listed : table.listed) {
    auto& [text, values] = row.listed.emplace_back(cells.text(listed.cells, "cells"), std::vector<Formula>{});
    for (const std::string& value : listed.values)
      values.push_back(cells.formula(value, "values"));
  }
  if (!table.rows.empty()) row.measurements = cells.formula(table.rows, "rows");
  if (!table.skipped.empty()) row.left_out = cells.formula(table.skipped, "skipped");
}

CaseTables::Table CaseTables::read(const StudyCard& study, const StudyTable& table,
                                   const std::filesystem::path& data, const PublishedFigures& published) {
  const bool is_measured = table.cases.name.find('/') != std::string::npos;
  const HeadedTable file(is_measured ? data / table.cases.name : study_file(study.name, table.cases.name));
  Table found{.spec = table};
  for (const HeadedTable::Row& table_row : file.rows()) {
    const Cells cells(file, table_row);
    if (is_left_out(table, cells)) continue;
    Row row{.name = table.name.empty() ? std::string(cells.find("id")) : cells.text(table.name, "name"),
            .label = cells.text(table.label, "label"),
            .figure = {},
            .at = cells.origin(),
            .columns = cells.numbers(),
            .steps = {},
            .formulas = {},
            .shares = {}};
    if (!row.label.empty()) add_formulas(row, cells, table, published);
    row.source = source_of(study, table, cells, data);
    found.rows.push_back(std::move(row));
  }
  if (!table.heading.empty() &&
      std::ranges::all_of(found.rows, [](const Row& row) { return row.label.empty(); }))
    throw ConfigError(table.cases.origin, "cases",
                      fmt::format("'{}' has no row that is shown", table.cases.name));
  return found;
}

void CaseTables::note_needs(const Row& row, const Formula& formula,
                            std::map<const Row*, std::set<std::string>>& needed) const {
  for (const std::string& name : formula.names()) {
    const auto colon = name.rfind(kOfRow);
    const Row& other = colon == std::string::npos ? row : row_called(name.substr(0, colon), row);
    const std::string number = colon == std::string::npos ? name : name.substr(colon + 1);
    if (const auto step = other.steps.find(number); step != other.steps.end()) {
      note_needs(other, step->second, needed);
      continue;
    }
    if (other.columns.contains(number)) continue;
    if (!other.source)
      throw ConfigError(row.at, "value",
                        fmt::format("'{}' is no column of numbers, and '{}' runs nothing", number, other.name));
    needed[&other].insert(number);
  }
}

// Notes the numbers of each row that its own formulas and those of others name.
void CaseTables::note_needs() {
  std::map<const Row*, std::set<std::string>> needed;
  for (const Table& table : tables_) {
    for (const Row& row : table.rows) {
      for (const auto& [beside, formula] : row.formulas)
        note_needs(row, formula, needed);
      for (const Share& share : row.shares) {
        for (const Column& column : share.columns) {
          note_needs(row, column.value, needed);
          if (column.where) note_needs(row, *column.where, needed);
        }
      }
      for (const auto& [text, values] : row.listed)
        for (const Formula& value : values)
          note_needs(row, value, needed);
      for (const std::optional<Formula>& count : {row.measurements, row.left_out})
        if (count) note_needs(row, *count, needed);
    }
  }
  for (auto& [row, names] : needed)
    needed_[row] = {names.begin(), names.end()};
}

const CaseTables::Row& CaseTables::row_called(const std::string& name, const Row& by) const {
  if (const auto found = rows_.find(name); found != rows_.end()) return *found->second;
  std::vector<std::string> known;
  for (const auto& [known_name, row] : rows_)
    known.push_back(known_name);
  throw ConfigError(by.at, "value", unknown_name("row", name, known));
}

void CaseTables::plan(SimulationJobs& jobs) {
  for (Table& table : tables_) {
    for (Row& row : table.rows) {
      const auto needed = needed_.find(&row);
      if (needed == needed_.end()) continue;
      const std::vector<std::string>& wanted = needed->second;
      jobs.push_back({.run = [&row, &wanted] { return simulated(row.source, wanted); },
                      .take =
                          [&row, &wanted](const SimulatedTime& found) {
                            row.refusal = found.said;
                            for (std::size_t i = 0; i < found.values.size(); ++i)
                              row.numbers.emplace(wanted[i], found.values[i]);
                          }});
    }
  }
}

double CaseTables::number_of(const Row& row, const std::string& name) const {
  if (const auto step = row.steps.find(name); step != row.steps.end())
    return value_of(row, step->second).value_or(kNaN);
  if (const auto column = row.columns.find(name); column != row.columns.end()) return column->second;
  const auto found = row.numbers.find(name);
  return found == row.numbers.end() ? kNaN : found->second;
}

std::optional<double> CaseTables::value_of(const Row& row, const Formula& formula) const {
  const double value = formula.value([&](const std::string& name) {
    const auto colon = name.rfind(kOfRow);
    return colon == std::string::npos ? number_of(row, name)
                                      : number_of(*rows_.at(name.substr(0, colon)), name.substr(colon + 1));
  });
  return std::isnan(value) ? std::nullopt : std::optional(value);
}

std::size_t CaseTables::count_of(const Row& row, const Formula& formula) const {
  return static_cast<std::size_t>(std::max(0.0, value_of(row, formula).value_or(0.0)));
}

StudyLine CaseTables::line_of(const Row& row) const {
  StudyLine line{.figure = {.reference = row.figure, .simulated = value_of(row, row.formulas.front().second)},
                 .label = row.label,
                 .rows = row.shares.empty() ? std::size_t{0} : 1};
  if (row.measurements) line.rows = count_of(row, *row.measurements);
  if (row.left_out) line.skipped = count_of(row, *row.left_out);
  for (std::size_t i = 1; i < row.formulas.size(); ++i) {
    const auto& [name, formula] = row.formulas[i];
    if (const auto value = value_of(row, formula)) line.beside.emplace_back(name, *value);
  }
  return line;
}

std::vector<double> CaseTables::values_of(const std::vector<const Row*>& group, std::size_t summary,
                                          std::size_t column, std::vector<std::string>& blocks) const {
  std::vector<double> values;
  for (const Row* row : group) {
    const Share& share = row->shares[summary];
    const Column& definition = share.columns[column];
    if (definition.where && value_of(*row, *definition.where) == 0.0) continue;
    values.push_back(value_of(*row, definition.value).value_or(kNaN));
    blocks.push_back(share.block);
  }
  return values;
}

// A figure of which one row has no value has none.
StudyLine CaseTables::line_of(const std::vector<const Row*>& group, std::size_t summary) const {
  const Share& share = group.front()->shares[summary];
  StudyLine line{.figure = {.reference = share.figure}, .label = share.label};
  for (std::size_t column = 0; column < share.columns.size(); ++column) {
    std::vector<std::string> blocks;
    const std::vector<double> values = values_of(group, summary, column, blocks);
    if (column == 0) line.rows = values.size();
    const auto is_missing = [](double value) { return std::isnan(value); };
    if (values.empty() || std::ranges::any_of(values, is_missing)) continue;
    const double value = summary_of(share.columns[column].kind, values);
    if (column > 0) {
      line.beside.emplace_back(share.columns[column].name, value);
      continue;
    }
    line.figure.simulated = value;
    if (const auto interval = interval_of(share.columns[column].kind, values, blocks)) {
      line.figure.p5 = interval->low;
      line.figure.p95 = interval->high;
    }
  }
  return line;
}

std::vector<StudyLine> CaseTables::summaries_of(const Table& table) const {
  std::vector<StudyLine> lines;
  for (std::size_t summary = 0; summary < table.spec.summaries.size(); ++summary) {
    std::vector<std::pair<std::string, std::vector<const Row*>>> groups;
    for (const Row& row : table.rows) {
      if (row.label.empty()) continue;
      const std::string& by = row.shares[summary].by;
      auto group = std::ranges::find(groups, by, &std::pair<std::string, std::vector<const Row*>>::first);
      if (group == groups.end()) group = groups.insert(groups.end(), {by, {}});
      group->second.push_back(&row);
    }
    for (const auto& [by, rows] : groups) {
      StudyLine line = line_of(rows, summary);
      if (line.rows == 0) continue;
      line.figure.kind = kind_of(table.spec, line.label);
      lines.push_back(std::move(line));
    }
  }
  return lines;
}

StudySection CaseTables::section_of(const Table& table) const {
  StudySection section{.heading = table.spec.heading,
                       .lines = summaries_of(table),
                       .notes = table.spec.notes,
                       .value = table.spec.heads,
                       .decimals = table.spec.decimals};
  for (const Row& row : table.rows) {
    if (row.label.empty() || !table.spec.lists_rows) continue;
    section.lines.push_back(line_of(row));
    section.lines.back().figure.kind = kind_of(table.spec, row.label);
  }
  return section;
}

std::string CaseTables::rows_csv() const {
  std::string csv;
  for (const Table& table : tables_) {
    for (const Row& row : table.rows) {
      for (const auto& [text, values] : row.listed) {
        csv += text;
        for (const Formula& formula : values) {
          const auto value = value_of(row, formula);
          csv += value ? fmt::format(",{:.4g}", *value) : ",";
        }
        csv += '\n';
      }
    }
  }
  return csv;
}

StudyReport CaseTables::sections(std::vector<std::string>& broken) const {
  StudyReport report;
  for (const Table& table : tables_) {
    for (const Row& row : table.rows)
      if (!row.refusal.empty()) broken.emplace_back(ConfigError(row.at, row.name, row.refusal).what());
    if (!table.spec.heading.empty()) report.push_back(section_of(table));
  }
  return report;
}

}}  // namespace c3::studies
