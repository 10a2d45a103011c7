#include "results/table.hpp"

#include <fmt/format.h>

#include <sstream>

#include "results/recommendation.hpp"
#include "results/study_cells.hpp"
#include "results/text_table.hpp"

namespace c3 {
namespace {

constexpr std::size_t kWidth = 110;

std::string format_cells(const StudyCells& cells) {
  TextTable table(cells.header);
  for (const auto& row : cells.rows)
    table.add(row);
  return table.text() + cells.notes;
}

/// Lines of at most \p width characters, the later ones indented.
std::string wrapped(const std::string& text, std::size_t width) {
  std::string result, line;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (!line.empty() && line.size() + 1 + word.size() > width) {
      result += line + '\n';
      line = " ";
    }
    line += (line.empty() ? "" : " ") + word;
  }
  return result + line + '\n';
}

std::string strategy_notes(const StudyResult& study) {
  std::string text;
  for (const StrategyResult& strategy : study.strategies) {
    for (const std::string& note : strategy.notes)
      text += wrapped(fmt::format("{}: {}", strategy.name, note), kWidth);
  }
  return text;
}

}  // namespace

std::string format_study(const StudyResult& study) {
  std::string text = fmt::format("{} on {}: {}\n\n", study.experiment, study.conditions.system,
                                 conditions_text(study.conditions)) +
                     format_cells(time_cells(study));
  for (const StudyCells& cells : {stream_cells(study), loss_cells(study)})
    if (!cells.rows.empty()) text += '\n' + format_cells(cells);
  const std::string notes = strategy_notes(study);
  if (!notes.empty()) text += '\n' + notes;
  if (const auto recommendation = recommend(study))
    text += '\n' + wrapped(recommendation_text(*recommendation), kWidth);
  return text;
}

}  // namespace c3
