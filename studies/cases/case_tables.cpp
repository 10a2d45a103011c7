#include "studies/cases/case_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <set>
#include <stdexcept>
#include <utility>

#include "base/nearest_name.hpp"
#include "base/statistics.hpp"
#include "importers/collective_times/headed_table.hpp"
#include "studies/cases/cells.hpp"

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
    for (const auto& [each, value] : numbers)
      known.push_back(each);
    outcome.said = unknown_name("number of this row", name, known);
  }
  return outcome;
}

/// \throws ConfigError for an id that no row of the published figures begins with
PublishedFigure figure_of(const PublishedFigures& published, const std::string& id, const Cells& cells) {
  try {
    return published.find(id);
  } catch (const std::logic_error&) {
    cells.fail("id", fmt::format("published.csv has no row '{}', nor one whose id it begins with", id));
  }
}

double summary_of(SummaryKind kind, std::vector<double> values) {
  switch (kind) {
    case SummaryKind::mean:
      return mean(values);
    case SummaryKind::median:
      return median(std::move(values));
    case SummaryKind::largest:
      return *std::ranges::max_element(values);
    case SummaryKind::geometric_mean:
      return geometric_mean(values);
    case SummaryKind::mean_size:
      break;
  }
  for (double& value : values)
    value = std::abs(value);
  return mean(values);
}

}  // namespace

CaseTables::CaseTables(const StudyCard& study, const std::filesystem::path& data,
                       const PublishedFigures& published) {
  for (const StudyTable& table : study.tables)
    tables_.push_back(read(study, table, data, published));
  for (const Table& table : tables_) {
    for (const Row& row : table.rows) {
      if (!row.name.empty() && !rows_.emplace(row.name, &row).second)
        throw ConfigError(row.at, "name", fmt::format("'{}' is there twice", row.name));
    }
  }
  note_needs();
}

void CaseTables::add_formulas(Row& row, const Cells& cells, const StudyTable& table,
                              const PublishedFigures& published) {
  row.figure = figure_of(published, cells.text(table.id, "id"), cells);
  row.formulas.emplace_back("", cells.formula(table.value, "value"));
  for (const NamedFormula& beside : table.beside)
    row.formulas.emplace_back(beside.name, cells.formula(beside.formula, "beside"));
  for (const StudySummary& summary : table.summaries)
    row.shares.push_back({.figure = figure_of(published, cells.text(summary.id, "id"), cells),
                          .by = cells.text(summary.by, "by"),
                          .label = cells.text(summary.label, "label"),
                          .formula = cells.formula(summary.value, "value")});
}

CaseTables::Table CaseTables::read(const StudyCard& study, const StudyTable& table,
                                   const std::filesystem::path& data, const PublishedFigures& published) {
  const bool is_measured = table.cases.name.find('/') != std::string::npos;
  const HeadedTable file(is_measured ? data / table.cases.name : study_file(study.name, table.cases.name));
  Table found{.of = table};
  for (const HeadedTable::Row& each : file.rows()) {
    const Cells cells(file, each);
    if (!table.where.empty() && cells.text(table.where, "where").empty()) continue;
    Row row{.name = cells.text(table.name, "name"),
            .label = cells.text(table.label, "label"),
            .figure = {},
            .at = cells.origin(),
            .columns = cells.numbers(),
            .formulas = {},
            .shares = {}};
    if (!row.label.empty()) add_formulas(row, cells, table, published);
    row.source = source_of(study, table, cells, data);
    found.rows.push_back(std::move(row));
  }
  if (std::ranges::all_of(found.rows, [](const Row& row) { return row.label.empty(); }))
    throw ConfigError(table.cases.origin, "cases",
                      fmt::format("'{}' has no row that is shown", table.cases.name));
  return found;
}

void CaseTables::note_needs(const Row& row, const Formula& formula,
                            std::map<const Row*, std::set<std::string>>& needed) const {
  for (const std::string& name : formula.names()) {
    const auto colon = name.find(kOfRow);
    const Row& other = colon == std::string::npos ? row : row_called(name.substr(0, colon), row);
    const std::string number = colon == std::string::npos ? name : name.substr(colon + 1);
    if (other.columns.contains(number)) continue;
    if (!other.source)
      throw ConfigError(
          row.at, "value",
          fmt::format("'{}' is no column of numbers, and '{}' runs nothing", number, other.name));
    needed[&other].insert(number);
  }
}

// Of each row the numbers that its own formulas and those of others name.
void CaseTables::note_needs() {
  std::map<const Row*, std::set<std::string>> needed;
  for (const Table& table : tables_) {
    for (const Row& row : table.rows) {
      for (const auto& [beside, formula] : row.formulas)
        note_needs(row, formula, needed);
      for (const Share& share : row.shares)
        note_needs(row, share.formula, needed);
    }
  }
  for (auto& [row, names] : needed)
    needed_[row] = {names.begin(), names.end()};
}

const CaseTables::Row& CaseTables::row_called(const std::string& name, const Row& by) const {
  if (const auto found = rows_.find(name); found != rows_.end()) return *found->second;
  std::vector<std::string> known;
  for (const auto& [each, row] : rows_)
    known.push_back(each);
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

std::optional<double> CaseTables::value_of(const Row& row, const Formula& formula) const {
  const double value = formula.value([&](const std::string& name) {
    const auto colon = name.find(kOfRow);
    const Row& other = colon == std::string::npos ? row : *rows_.at(name.substr(0, colon));
    const std::string number = colon == std::string::npos ? name : name.substr(colon + 1);
    if (const auto column = other.columns.find(number); column != other.columns.end()) return column->second;
    const auto found = other.numbers.find(number);
    return found == other.numbers.end() ? kNaN : found->second;
  });
  return std::isnan(value) ? std::nullopt : std::optional(value);
}

StudyLine CaseTables::line_of(const Row& row) const {
  StudyLine line{.figure = {.of = row.figure, .simulated = value_of(row, row.formulas.front().second)},
                 .label = row.label,
                 .rows = row.shares.empty() ? std::size_t{0} : 1};
  for (std::size_t i = 1; i < row.formulas.size(); ++i) {
    const auto& [name, formula] = row.formulas[i];
    if (const auto value = value_of(row, formula)) line.beside.emplace_back(name, *value);
  }
  return line;
}

// A figure of which one row has no value has none.
std::vector<StudyLine> CaseTables::summaries_of(const Table& table) const {
  std::vector<StudyLine> lines;
  for (std::size_t summary = 0; summary < table.of.summaries.size(); ++summary) {
    std::vector<std::pair<const Share*, std::vector<double>>> groups;
    for (const Row& row : table.rows) {
      if (row.label.empty()) continue;
      const Share& share = row.shares[summary];
      auto group = std::ranges::find_if(groups, [&](const auto& each) { return each.first->by == share.by; });
      if (group == groups.end()) group = groups.insert(groups.end(), {&share, {}});
      group->second.push_back(value_of(row, share.formula).value_or(kNaN));
    }
    for (auto& [share, values] : groups) {
      StudyLine line{.figure = {.of = share->figure}, .label = share->label, .rows = values.size()};
      if (std::ranges::none_of(values, [](double value) { return std::isnan(value); }))
        line.figure.simulated = summary_of(table.of.summaries[summary].kind, std::move(values));
      lines.push_back(std::move(line));
    }
  }
  return lines;
}

StudySection CaseTables::section_of(const Table& table) const {
  StudySection section{.heading = table.of.heading,
                       .lines = summaries_of(table),
                       .notes = table.of.notes,
                       .value = table.of.heads,
                       .decimals = table.of.decimals};
  for (const Row& row : table.rows)
    if (!row.label.empty()) section.lines.push_back(line_of(row));
  return section;
}

StudyReport CaseTables::sections(std::vector<std::string>& broken) const {
  StudyReport report;
  for (const Table& table : tables_) {
    for (const Row& row : table.rows)
      if (!row.refusal.empty()) broken.emplace_back(ConfigError(row.at, row.name, row.refusal).what());
    report.push_back(section_of(table));
  }
  return report;
}

}}  // namespace c3::studies
