#include "results/table.hpp"

#include <fmt/format.h>

#include "results/study_cells.hpp"
#include "results/text_table.hpp"

namespace c3 {
namespace {

std::string format_cells(const StudyCells& cells) {
  TextTable table(cells.header);
  for (const auto& row : cells.rows)
    table.add(row);
  return table.text() + cells.notes;
}

}  // namespace

std::string format_study(const StudyResult& study) {
  std::string text = fmt::format("{} on {}: {}\n\n", study.experiment, study.conditions.system,
                                 conditions_text(study.conditions)) +
                     format_cells(time_cells(study));
  for (const StudyCells& cells : {stream_cells(study), loss_cells(study)})
    if (!cells.rows.empty()) text += '\n' + format_cells(cells);
  return text;
}

}  // namespace c3
