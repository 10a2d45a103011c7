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
  auto text = fmt::format("{} on {}: {}\n\n", study.experiment, study.conditions.system,
                          conditions_text(study.conditions)) +
              format_cells(time_cells(study));
  const auto losses = loss_cells(study);
  return losses.rows.empty() ? text : text + '\n' + format_cells(losses);
}

}  // namespace c3
