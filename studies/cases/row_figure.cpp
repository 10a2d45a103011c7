#include "studies/cases/row_figure.hpp"

#include <fmt/format.h>

#include <regex>
#include <stdexcept>

#include "studies/cases/formula.hpp"

namespace c3 { inline namespace studies {

bool is_left_out(const StudyTable& table, const Cells& cells) {
  if (table.where.empty()) return false;
  const std::string where = cells.text(table.where, "where");
  return where.empty() || with_texts_compared(where) == "0";
}

PublishedFigure figure_of(const PublishedFigures& published, const std::string& id, const Cells& cells) {
  try {
    return published.find(id);
  } catch (const std::logic_error&) {
    cells.fail("id", fmt::format("published.csv has no row '{}', nor one whose id it begins with", id));
  }
}

FigureKind kind_of(const StudyTable& table, const std::string& label, FigureKind otherwise) {
  if (!table.fitted.empty() && std::regex_match(label, std::regex(table.fitted))) return FigureKind::fitted;
  if (!table.input.empty() && std::regex_match(label, std::regex(table.input))) return FigureKind::input;
  return otherwise;
}

}}  // namespace c3::studies
