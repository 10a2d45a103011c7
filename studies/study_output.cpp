#include "studies/study_output.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.hpp"
#include "results/schema.hpp"
#include "results/text_table.hpp"

namespace c3 { inline namespace studies {
namespace {

std::string number(std::optional<double> value, int decimals) {
  return value ? fmt::format("{:.{}f}", *value, decimals) : "-";
}

/// "<= 10", "2..4", "= 3", nothing without a gate.
std::string target(const PublishedFigure& reference) {
  if (reference.gate == Gate::none) return "";
  if (reference.gate == Gate::exact) return fmt::format("= {}", reference.published.value_or(0.0));
  if (!reference.low) return fmt::format("<= {}", reference.high.value_or(0.0));
  if (!reference.high) return fmt::format(">= {}", *reference.low);
  return fmt::format("{}..{}", *reference.low, *reference.high);
}

std::string verdict(const Figure& figure) {
  const std::optional<bool> passed = passes(figure);
  return !passed ? "" : *passed ? "ok" : "MISS";
}

std::vector<std::string> columns_beside(const StudySection& section) {
  std::vector<std::string> names;
  for (const StudyLine& line : section.lines) {
    for (const auto& [name, value] : line.beside) {
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
  }
  return names;
}

std::optional<double> value_beside(const StudyLine& line, const std::string& name) {
  const auto found = std::ranges::find(line.beside, name, &std::pair<std::string, double>::first);
  return found == line.beside.end() ? std::nullopt : std::optional(found->second);
}

std::vector<std::string> header_of(const StudySection& section, const std::vector<std::string>& beside) {
  const std::string unit = section.lines.front().figure.reference.unit;
  const auto with_unit = [&](std::string_view name) {
    return name.ends_with(']') ? std::string(name) : fmt::format("{} [{}]", name, unit);
  };
  std::vector<std::string> header = {"", "rows", "skipped", with_unit(section.value), "p5..p95"};
  for (const std::string& name : beside)
    header.push_back(with_unit(name));
  header.insert(header.end(), {with_unit("published"), "target", "", "kind"});
  return header;
}

/// A cell of which nothing can be said is empty.
std::vector<std::string> row_of(const StudyLine& line, const std::vector<std::string>& beside, int decimals) {
  const Figure& figure = line.figure;
  const auto shown = [decimals](std::optional<double> value) { return number(value, decimals); };
  const auto count = [](std::size_t rows) { return rows == 0 ? "" : std::to_string(rows); };
  const auto if_any = [&](std::optional<double> value) { return value ? shown(value) : ""; };
  std::vector<std::string> row = {line.label, count(line.rows), count(line.skipped), shown(figure.simulated),
                                  figure.p5 && figure.p95 ? shown(figure.p5) + ".." + shown(figure.p95) : ""};
  for (const std::string& name : beside)
    row.push_back(if_any(value_beside(line, name)));
  row.insert(row.end(), {if_any(figure.reference.published), target(figure.reference), verdict(figure),
                         std::string(name_of(figure.kind))});
  return row;
}

/// The section's table without the columns that are empty in every line.
TextTable table_of(const StudySection& section) {
  const std::vector<std::string> beside = columns_beside(section);
  std::vector<std::vector<std::string>> rows;
  rows.reserve(section.lines.size());
  for (const StudyLine& line : section.lines)
    rows.push_back(row_of(line, beside, section.decimals));
  const auto without_empty = [&](const std::vector<std::string>& row) {
    std::vector<std::string> kept;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (std::ranges::any_of(rows, [i](const auto& cells) { return !cells[i].empty(); }))
        kept.push_back(row[i]);
    }
    return kept;
  };
  TextTable table(without_empty(header_of(section, beside)));
  for (const std::vector<std::string>& row : rows)
    table.add(without_empty(row));
  return table;
}

template <class T>
Json json_or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json json_of(const StudyLine& line) {
  const Figure& figure = line.figure;
  const PublishedFigure& reference = figure.reference;
  Json json{{"id", reference.id},
            {"label", line.label},
            {"unit", reference.unit},
            {"published", json_or_null(reference.published)},
            {"simulated", json_or_null(figure.simulated)},
            {"p5", json_or_null(figure.p5)},
            {"p95", json_or_null(figure.p95)},
            {"low", json_or_null(reference.low)},
            {"high", json_or_null(reference.high)},
            {"gate", name_of(reference.gate)},
            {"pass", json_or_null(passes(figure))},
            {"kind", name_of(figure.kind)},
            {"known_miss", reference.known_miss.empty() ? Json(nullptr) : Json(reference.known_miss)},
            {"source", reference.source},
            {"rows", line.rows},
            {"skipped", line.skipped},
            {"beside", Json::object()}};
  for (const auto& [name, value] : line.beside)
    json["beside"][name] = value;
  return json;
}

}  // namespace

std::string study_text(const StudyReport& report) {
  std::string text;
  for (const StudySection& section : report) {
    if (section.lines.empty()) continue;  // the tables have no row for it
    text += fmt::format("{}{}\n\n{}", text.empty() ? "" : "\n", section.heading, table_of(section).text());
    for (const StudyLine& line : section.lines) {
      if (!line.figure.reference.known_miss.empty())
        text += fmt::format("{}: {}\n", line.label, line.figure.reference.known_miss);
    }
    for (const std::string& note : section.notes)
      text += note + '\n';
  }
  return text;
}

std::string study_json(std::string_view study, const StudyReport& report) {
  Json figures = Json::array();
  for (const StudySection& section : report) {
    for (const StudyLine& line : section.lines)
      figures.push_back(json_of(line));
  }
  return Json{{"schema_version", kJsonSchemaVersion}, {"study", study}, {"figures", figures}}.dump(2) + '\n';
}

}}  // namespace c3::studies
