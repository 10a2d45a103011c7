#include "configs/presets/study_card.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <map>
#include <ranges>

#include "configs/presets/document.hpp"
#include "configs/presets/preset_folders.hpp"
#include "configs/presets/shipped_files.hpp"
#include "configs/toml/section.hpp"
#include "files/io_error.hpp"

namespace c3 { inline namespace configs {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) { return path.string(); }

constexpr std::string_view kCard = "study.toml";
constexpr std::size_t kMostMeasured = 1000, kMostTables = 100, kMostBeside = 20;
constexpr int kMostDecimals = 9;

/// The folders of studies, in the order in which they are searched.
std::vector<fs::path> study_folders() {
  std::vector<fs::path> folders = preset_folders();
  folders.pop_back();  // the shipped presets
  for (fs::path& folder : folders)
    folder /= "studies";
  folders.push_back(shipped_folder("studies", C3_SOURCE_STUDIES));
  return folders;
}

bool flag_at(Section& section, std::string_view key) { return section.has(key) && section.flag(key); }

std::string text_at(Section& section, std::string_view key, std::string otherwise = {}) {
  return section.has(key) ? section.text(key) : std::move(otherwise);
}

std::vector<std::string> texts_at(Section& section, std::string_view key) {
  std::vector<std::string> texts;
  if (!section.has(key)) return texts;
  for (PlacedText& text : section.sourced_texts(key, {".*", "text"}))
    texts.push_back(std::move(text.name));
  return texts;
}

std::vector<NamedFormula> formulas_at(Section& section, std::string_view key) {
  std::vector<NamedFormula> formulas;
  if (!section.has(key)) return formulas;
  for (Section& row : section.tables(key, kMostBeside)) {
    formulas.push_back({.name = row.text("name"), .formula = row.text("value")});
    if (row.has("over")) formulas.back().over = row.choice<OverDraws>("over");
    row.finish();
  }
  return formulas;
}

SummaryColumn read_column(Section& section, std::string name, const SummaryColumn& otherwise) {
  return {.name = std::move(name),
          .value = text_at(section, "value", otherwise.value),
          .kind = section.has("kind") ? section.choice<SummaryKind>("kind") : otherwise.kind,
          .where = text_at(section, "where", otherwise.where)};
}

StudySummary read_summary(Section& section, const std::string& value) {
  StudySummary summary{.by = text_at(section, "by"),
                       .id = section.text("id"),
                       .label = section.text("label"),
                       .columns = {read_column(section, "", {.name = {}, .value = value})},
                       .blocks = text_at(section, "blocks")};
  if (section.has("beside")) {
    for (Section& column : section.tables("beside", kMostBeside)) {
      summary.columns.push_back(read_column(column, column.text("name"), summary.columns.front()));
      column.finish();
    }
  }
  section.finish();
  return summary;
}

ListedRow read_listed(Section& section) {
  ListedRow listed{.cells = section.text("cells"), .values = texts_at(section, "values")};
  section.finish();
  return listed;
}

StudyTable read_table(Section& section) {
  StudyTable table;
  table.heading = text_at(section, "heading");
  table.cases = {section.text("cases"), section.node("cases", {TextRule{}}).origin};
  table.experiment = text_at(section, "experiment");
  table.ask = text_at(section, "ask");
  table.call = text_at(section, "call");
  table.found = text_at(section, "found");
  if (section.has("spread")) table.has_spread = section.flag("spread");
  table.sets = texts_at(section, "set");
  table.name = text_at(section, "name", table.name);
  const bool is_shown = !table.heading.empty();
  if (is_shown) table.id = section.text("id");
  table.label = is_shown ? text_at(section, "label", table.label) : "";
  table.where = text_at(section, "where");
  if (is_shown) table.value = section.text("value");
  table.steps = formulas_at(section, "let");
  table.beside = formulas_at(section, "beside");
  if (section.has("summary")) {
    for (Section& row : section.tables("summary", kMostBeside))
      table.summaries.push_back(read_summary(row, table.value));
  }
  if (section.has("listed")) {
    for (Section& list : section.tables("listed", kMostBeside))
      table.listed.push_back(read_listed(list));
  }
  if (section.has("lists_rows")) table.lists_rows = section.flag("lists_rows");
  if (!table.lists_rows) table.label = "row";
  table.fitted = text_at(section, "fitted");
  table.input = text_at(section, "input");
  table.rows = text_at(section, "rows");
  table.skipped = text_at(section, "skipped");
  table.notes = texts_at(section, "notes");
  table.heads = text_at(section, "heads", table.heads);
  if (section.has("decimals")) table.decimals = static_cast<int>(section.integer("decimals", 0, kMostDecimals));
  section.finish();
  return table;
}

StudyCard read_card(const fs::path& file) {
  const Node document = load_document(file);
  Section section(document, "");
  StudyCard card{.name = file.parent_path().filename().string(),
                 .about = section.text("about"),
                 .takes_systems = flag_at(section, "systems"),
                 .has_rows = flag_at(section, "rows"),
                 .has_page = flag_at(section, "page"),
                 .has_weights = flag_at(section, "weights"),
                 .has_draws = flag_at(section, "draws")};
  card.row_columns = text_at(section, "row_columns");
  if (section.has("measured")) {
    for (Section& row : section.tables("measured", kMostMeasured)) {
      card.measured.push_back({.path = row.text("file"), .what = row.text("what")});
      row.finish();
    }
  }
  if (section.has("table")) {
    for (Section& table_section : section.tables("table", kMostTables))
      card.tables.push_back(read_table(table_section));
  }
  section.finish();
  return card;
}

}  // namespace

std::vector<StudyCard> study_cards() {
  std::map<std::string, StudyCard> found;
  for (const fs::path& folder : study_folders()) {
    if (!fs::is_directory(folder)) continue;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
      const std::string name = entry.path().filename().string();
      if (!found.contains(name) && fs::is_regular_file(entry.path() / kCard))
        found.emplace(name, read_card(entry.path() / kCard));
    }
  }
  std::vector<StudyCard> cards;
  for (auto& [name, card] : found)
    cards.push_back(std::move(card));
  return cards;
}

fs::path study_file(std::string_view study, std::string_view name) {
  const std::vector<fs::path> folders = study_folders();
  for (const fs::path& folder : folders) {
    fs::path file = folder / study / name;
    if (fs::is_regular_file(file)) return file;
  }
  throw IoError((fs::path(study) / name).string(), fmt::format("reproduce {}", study),
                fmt::format("it is in none of the folders {}",
                            fmt::join(folders | std::views::transform(text_of), ", ")));
}

fs::path data_folder(const std::string& asked) {
  if (!asked.empty()) return asked;
  const char* variable = std::getenv("C3SIM_DATA");
  return variable != nullptr && *variable != '\0' ? variable : "data";
}

void check_measurements(const StudyCard& study, const fs::path& data) {
  std::vector<std::string> missing;
  for (const auto& [path, what] : study.measured) {
    if (!fs::exists(data / path)) missing.push_back(fmt::format("{} ({})", path, what));
  }
  if (missing.empty()) return;
  throw IoError(data.string(), fmt::format("reproduce {}", study.name),
                fmt::format("the measurements are not there: {}; name their folder with --data or C3SIM_DATA",
                            fmt::join(missing, ", ")));
}

}}  // namespace c3::configs
