// Measured tables, each projected from one of its rows by its work.

#include <cmath>
#include <vector>

#include "base/percent.hpp"
#include "studies/cases/measured_tables.hpp"
#include "studies/checked_row.hpp"
#include "studies/scaling_laws/parts.hpp"

namespace c3 { inline namespace studies {
namespace {

struct MeasuredOperator {
  double work = 0.0;
  double time = 0.0;  ///< ms
};

/// The product of the cells in \p columns.
double product_of(const Cells& row, const std::vector<std::string>& columns) {
  double product = 1.0;
  for (const std::string& column : columns) {
    const auto number = number_in(row.text("${" + column + "}", column));
    if (!number || *number <= 0.0) row.fail(column, "must be a number above 0");
    product *= *number;
  }
  return product;
}

/// Sets the error of \p rows, projected from that of most work up to \p baseline.
void set_error(StudyLine& line, const std::vector<MeasuredOperator>& rows, double baseline) {
  const MeasuredOperator* from = nullptr;
  for (const MeasuredOperator& row : rows)
    if (row.work <= baseline && (from == nullptr || row.work > from->work)) from = &row;
  if (from == nullptr) return;
  constexpr double kLeastShare = 0.01;
  double sum = 0.0, difference = 0.0;
  for (const MeasuredOperator& row : rows) {
    if (row.work < kLeastShare * from->work) {
      ++line.skipped;
      continue;
    }
    const double error = from->time * row.work / from->work / row.time - 1.0;
    sum += std::abs(error);
    difference += error;
    ++line.rows;
  }
  const auto count = static_cast<double>(line.rows);
  line.figure.simulated = kPercent * sum / count;
  line.beside = {{"signed", kPercent * difference / count}, {"baseline [ms]", from->time}};
}

}  // namespace

StudySection tables_section(const std::filesystem::path& data, const PublishedFigures& published) {
  StudySection section{.heading = "Measured tables, projected from one row of each: mean error",
                       .lines = {},
                       .notes = {"Rows with less than a hundredth of that row's work are left out. Published: "
                                 "recalled."}};
  MeasuredTables tables(data);
  const HeadedTable what(study_file("scaling_laws", "tables.csv"));
  for (const HeadedTable::Row& table_row : what.rows()) {
    const CheckedRow row(what, table_row, "of every table");
    const std::vector<std::string> columns = listed(row.text("work"));
    std::vector<MeasuredOperator> rows;
    for (const Cells& cells : tables.rows(row.text("table"), row.cell("find"))) {
      rows.push_back({product_of(cells, columns), product_of(cells, {"ms"})});
    }
    StudyLine line{.figure = {.reference = published.find(row.text("id"))}, .label = row.text("label")};
    set_error(line, rows, row.above_0("baseline"));
    section.lines.push_back(std::move(line));
  }
  return section;
}

}}  // namespace c3::studies
