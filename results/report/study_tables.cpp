
#include "results/report/html.hpp"
#include "results/report/sections.hpp"
#include "results/step_cells.hpp"
#include "results/study_cells.hpp"
#include "results/throughput_cells.hpp"

namespace c3 { inline namespace results {
namespace {

std::vector<std::string> escaped_cells(const std::vector<std::string>& cells) {
  std::vector<std::string> result;
  for (const auto& cell : cells)
    result.push_back(escaped(cell));
  return result;
}

std::string table_of(const StudyCells& cells) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& row : cells.rows)
    rows.push_back(escaped_cells(row));
  return table_html("times", escaped_cells(cells.header), rows) + R"(<p class="note">)" +
         escaped_lines(cells.notes) + "</p>\n";
}

}  // namespace

std::string table_section(const ReportScope& scope) {
  std::string tables;
  for (const auto& run : scope.runs) {
    if (scope.compares()) tables += "<h3>" + escaped(run.label) + "</h3>\n";
    tables += table_of(time_cells(run.study));
    for (const StudyCells& cells :
         {throughput_cells(run.study), stream_cells(run.study), rank_cells(run.study)}) {
      if (!cells.rows.empty()) tables += table_of(cells);
    }
  }
  return "<section id=\"table\">\n<h2>Times</h2>\n" + tables + "</section>\n";
}

std::string step_section(const ReportScope& scope) {
  std::string tables;
  for (const auto& run : scope.runs) {
    const StepResult* const step = first_step(run.study);
    if (step == nullptr) continue;
    if (scope.compares()) tables += "<h3>" + escaped(run.label) + "</h3>\n";
    for (const StudyCells& cells : {step_cells(run.study), bubble_cells(run.study), class_cells(run.study),
                                    memory_cells(step->facts), tenant_cells(step->facts)}) {
      if (!cells.rows.empty()) tables += table_of(cells);
    }
  }
  if (tables.empty()) return "";
  return "<section id=\"step\">\n<h2>Training step</h2>\n" + tables + "</section>\n";
}

}}  // namespace c3::results
