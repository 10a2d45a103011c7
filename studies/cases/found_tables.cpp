#include "studies/cases/found_tables.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <utility>

#include "base/nearest_name.hpp"
#include "base/statistics.hpp"
#include "importers/collective_times/headed_table.hpp"
#include "studies/cases/formula.hpp"
#include "studies/cases/row_figure.hpp"

namespace c3 { inline namespace studies {
namespace {

/// The cases of everything found: a seed at nominal values, or a draw.
struct FoundCase {
  std::vector<NamedNumbers> Found::*kind;
  std::size_t number;
};

/// Absent where \p name, a number or `NAME:NUMBER`, is not there.
std::optional<double> number_of(const FoundNumbers& all, const Found& own, const FoundCase& at,
                                const std::string& name) {
  const Found* found = &own;
  const auto colon = name.find(':');
  if (colon != std::string::npos) {
    const auto other = all.find(name.substr(0, colon));
    if (other == all.end()) return std::nullopt;
    found = &other->second;
  }
  const std::vector<NamedNumbers>& cases = found->*at.kind;
  if (at.number >= cases.size()) return std::nullopt;
  const auto number = cases[at.number].find(colon == std::string::npos ? name : name.substr(colon + 1));
  return number == cases[at.number].end() ? std::nullopt : std::optional(number->second);
}

/// One table's rows, of which something was found.
class FoundTable {
 public:
  FoundTable(const StudyTable& table, const FoundNumbers& found, const PublishedFigures& published,
             const FoundRole& role)
      : table_(table), found_(found), published_(published), role_(role) {}

  StudySection section(const HeadedTable& file) const {
    StudySection section{
        .heading = {}, .lines = {}, .notes = {}, .value = table_.heads, .decimals = table_.decimals};
    for (const HeadedTable::Row& row : file.rows()) {
      const Cells cells(file, row);
      if (is_left_out(table_, cells)) continue;
      const auto found = found_.find(cells.text(table_.found, "found"));
      if (found == found_.end()) continue;
      const Places& texts = found->second.texts;
      if (section.lines.empty()) {
        section.heading = role_.heading + cells.fill(table_.heading, "heading", texts).value_or("");
        for (const std::string& note : table_.notes)
          section.notes.push_back(cells.fill(note, "notes", texts).value_or(""));
      }
      section.lines.push_back(line(cells, found->second));
    }
    return section;
  }

 private:
  StudyLine line(const Cells& cells, const Found& found) const {
    const Formula formula = cells.formula(table_.value, "value");
    const std::optional<DrawnValue> value = value_of(formula, cells, found);
    if (!value) refuse(formula, cells, found);
    std::string label = cells.fill(table_.label, "label", found.texts).value_or("");
    Figure figure{.reference = figure_of(published_, role_.id + cells.text(table_.id, "id"), cells),
                  .kind = kind_of(table_, label, role_.kind)};
    StudyLine line = drawn_line(std::move(figure), std::move(label), *value);
    line.rows = found.rows;
    if (!table_.has_spread) {
      line.figure.p5 = line.figure.p95 = std::nullopt;
      line.beside.clear();
    }
    for (const NamedFormula& named : table_.beside) {
      const std::optional<std::string> text = cells.fill(named.formula, "beside");
      if (!text) continue;
      const auto beside = value_of(cells.formula(*text, "beside"), cells, found);
      if (!beside || (named.over == OverDraws::mean && beside->by_draw.empty())) continue;
      line.beside.emplace_back(named.name, named.over == OverDraws::median    ? beside->median()
                                           : named.over == OverDraws::nominal ? beside->nominal
                                                                              : mean(beside->by_draw));
    }
    return line;
  }

  /// Absent where \p formula names a number that is not there. A draw may lack what only the nominal case has.
  std::optional<DrawnValue> value_of(const Formula& formula, const Cells& cells, const Found& found) const {
    const NamedNumbers columns = cells.numbers();
    bool is_whole = true;
    const auto value = [&](const FoundCase& at) {
      return formula.value([&](const std::string& name) {
        if (const auto column = columns.find(name); column != columns.end()) return column->second;
        const std::optional<double> number = number_of(found_, found, at, name);
        is_whole = is_whole && number;
        return number.value_or(std::numeric_limits<double>::quiet_NaN());
      });
    };
    DrawnValue values;
    for (std::size_t seed = 0; seed < found.nominal.size(); ++seed)
      values.nominal += value({&Found::nominal, seed}) / static_cast<double>(found.nominal.size());
    if (!is_whole) return std::nullopt;
    for (std::size_t draw = 0; draw < found.draws.size(); ++draw)
      values.by_draw.push_back(value({&Found::draws, draw}));
    if (!is_whole) values.by_draw.clear();
    return values;
  }

  [[noreturn]] void refuse(const Formula& formula, const Cells& cells, const Found& found) const {
    std::vector<std::string> known;
    for (const auto& [name, number] : found.nominal.front())
      known.push_back(name);
    const NamedNumbers columns = cells.numbers();
    for (const std::string& name : formula.names())
      if (!columns.contains(name) && !number_of(found_, found, {&Found::nominal, 0}, name))
        cells.fail("value", unknown_name("number that was found", name, known));
    cells.fail("value", "names a number that not every seed has");
  }

  const StudyTable& table_;
  const FoundNumbers& found_;
  const PublishedFigures& published_;
  const FoundRole& role_;
};

}  // namespace

double DrawnValue::median() const { return by_draw.empty() ? nominal : base::median(by_draw); }

StudyLine drawn_line(Figure figure, std::string label, const DrawnValue& value) {
  StudyLine line{.figure = std::move(figure), .label = std::move(label)};
  if (const double shown = value.median(); !std::isnan(shown)) line.figure.simulated = shown;
  if (value.by_draw.empty()) return line;
  line.figure.p5 = quantile(value.by_draw, 0.05);
  line.figure.p95 = quantile(value.by_draw, 0.95);
  line.beside = {{"nominal", value.nominal}};
  return line;
}

StudyReport found_sections(const StudyCard& study, const FoundNumbers& found, const PublishedFigures& published,
                           const FoundRole& role) {
  StudyReport report;
  for (const StudyTable& table : study.tables) {
    if (table.found.empty()) continue;
    const HeadedTable file(study_file(study.name, table.cases.name));
    StudySection section = FoundTable(table, found, published, role).section(file);
    if (!section.lines.empty()) report.push_back(std::move(section));
  }
  return report;
}

}}  // namespace c3::studies
