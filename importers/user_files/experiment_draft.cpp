#include "importers/user_files/experiment_draft.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/json.hpp"
#include "base/percent.hpp"
#include "configs/toml/toml_text.hpp"

namespace c3 { inline namespace importers {
namespace {

/// The order in which people read an experiment.
constexpr std::array<std::string_view, 11> kOrder = {
    "", "gpu", "node", "library", "fabric", "model", "framework", "host", "training", "measure", "strategy"};

std::pair<std::string, std::string> split(std::string_view dotted) {
  const std::size_t dot = dotted.rfind('.');
  if (dot == std::string_view::npos) return {"", std::string(dotted)};
  return {std::string(dotted.substr(0, dot)), std::string(dotted.substr(dot + 1))};
}

std::size_t rank_of(std::string_view table) {
  const std::string_view root = table.substr(0, table.find('.'));
  return static_cast<std::size_t>(std::ranges::find(kOrder, root) - kOrder.begin());
}

std::string base_name(const std::string& file) { return file.substr(file.rfind('/') + 1); }

/// On one line, whatever a file's keys and texts hold.
std::string one_line(std::string_view text) {
  std::string line;
  for (const char c : text)
    line += static_cast<unsigned char>(c) < ' ' || c == '\x7f' ? ' ' : c;
  return line;
}

void append_ignored(std::string& text, const FileReading& reading) {
  std::vector<std::pair<std::string, std::vector<std::string>>> by_why;
  for (const IgnoredKey& ignored : reading.ignored) {
    auto found =
        std::ranges::find(by_why, ignored.why, &std::pair<std::string, std::vector<std::string>>::first);
    if (found == by_why.end()) found = by_why.insert(found, {ignored.why, {}});
    found->second.push_back(ignored.from);
  }
  if (!by_why.empty()) text += fmt::format("\n# What {} says besides:\n", one_line(base_name(reading.file)));
  for (const auto& [why, keys] : by_why)
    text += one_line(fmt::format("#   {}: {}", fmt::join(keys, ", "), why)) + '\n';
}

/// Appends the assumed values that a preset holds.
void append_assumed(std::string& text, const FileReading& reading) {
  if (reading.presets.empty() || reading.assumed.empty()) return;
  text += '\n' + one_line(fmt::format("# Assumed where {} does not say it:", base_name(reading.file))) + '\n';
  for (const AssumedKey& assumed : reading.assumed)
    text += one_line(fmt::format("#   {} = {}: {}", assumed.key, assumed.value, assumed.why)) + '\n';
}

void append_unmodelled(std::string& text, const FileReading& reading) {
  for (const UnmodelledPart& part : reading.unmodelled)
    text += one_line(fmt::format("# Not modelled: {} ({:.1f} % of the parameters, {:.1f} % of the flops)",
                                 part.what, kPercent * part.parameters, kPercent * part.flops)) +
            '\n';
}

/// A list on as many lines as it needs; any other \p value as it is.
std::string in_rows(const std::string& value) {
  constexpr std::size_t kRow = 100;
  const Node document = parse_toml("value = " + value, "draft");
  const Array* const list = document.table()->find("value")->array();
  if (list == nullptr) return value;
  std::string rows = "[", row;
  for (const Node& each : *list) {
    const std::string item = write_value(each) + ",";
    if (!row.empty() && row.size() + item.size() > kRow) rows += std::exchange(row, "");
    row += (row.empty() ? "\n  " : " ") + item;
  }
  return rows + row + "\n]";
}

}  // namespace

ExperimentDraft::ExperimentDraft(std::span<const FileReading> readings) {
  put("schema", "1", "");
  for (const FileReading& reading : readings) {
    for (const TakenKey& taken : reading.taken)
      put(taken.key, taken.value, fmt::format("{}: {}", base_name(reading.file), taken.from));
  }
  for (const FileReading& reading : readings) {
    if (!reading.presets.empty()) continue;  // its presets hold what was assumed for them
    for (const AssumedKey& assumed : reading.assumed)
      put(assumed.key, assumed.value, "assumed: " + assumed.why);
  }
}

bool ExperimentDraft::has(std::string_view dotted) const {
  const auto place = split(dotted);
  return std::ranges::any_of(lines_,
                             [&](const Line& line) { return std::pair(line.table, line.key) == place; });
}

std::string ExperimentDraft::text(std::string_view dotted) const {
  const auto [table, key] = split(dotted);
  for (const Line& line : lines_) {
    if (line.table != table || line.key != key || line.value.empty()) continue;
    const Node document = parse_toml("text = " + line.value, "draft");
    if (const std::string* text = document.table()->find("text")->text()) return *text;
  }
  return {};
}

void ExperimentDraft::put(std::string_view dotted, std::string value, std::string comment) {
  if (has(dotted)) return;
  auto [table, key] = split(dotted);
  lines_.push_back({std::move(table), std::move(key), std::move(value), std::move(comment)});
}

void ExperimentDraft::replace(std::string_view dotted, std::string value, std::string comment) {
  const auto place = split(dotted);
  std::erase_if(lines_, [&](const Line& line) { return std::pair(line.table, line.key) == place; });
  put(dotted, std::move(value), std::move(comment));
}

void ExperimentDraft::put_table(std::string_view key) { lines_.push_back({std::string(key), {}, {}, {}}); }

std::vector<std::string> ExperimentDraft::tables() const {
  std::vector<std::string> tables;
  for (const Line& line : lines_)
    if (std::ranges::find(tables, line.table) == tables.end()) tables.push_back(line.table);
  std::ranges::stable_sort(tables, [](const std::string& a, const std::string& b) {
    return std::pair(rank_of(a), std::string_view(a)) < std::pair(rank_of(b), std::string_view(b));
  });
  return tables;
}

std::string ExperimentDraft::toml(std::span<const FileReading> readings) const {
  std::string text;
  for (const std::string& line : head_)
    text += one_line("# " + line) + '\n';
  for (const FileReading& reading : readings)
    append_unmodelled(text, reading);
  if (!text.empty()) text += '\n';
  for (const std::string& table : tables()) {
    if (!table.empty())
      text += fmt::format("{}[{}]\n", text.ends_with("\n\n") || text.empty() ? "" : "\n", table);
    append_lines(text, table);
  }
  for (const FileReading& reading : readings) {
    append_assumed(text, reading);
    append_ignored(text, reading);
  }
  return text;
}

// Comments stand in a column behind the lines of a table, and above one that is too long for that.
void ExperimentDraft::append_lines(std::string& text, const std::string& table) const {
  constexpr std::size_t kWidest = 72;  // of a key and its value
  const auto width_of = [](const Line& line) { return line.key.size() + line.value.size(); };
  std::size_t width = 0;
  for (const Line& line : lines_)
    if (line.table == table && width_of(line) <= kWidest) width = std::max(width, width_of(line));
  for (const Line& line : lines_) {
    if (line.table != table || line.key.empty()) continue;
    const std::string comment = one_line(line.comment);
    if (width_of(line) > kWidest) {
      if (!comment.empty()) text += "# " + comment + '\n';
      text += fmt::format("{} = {}\n", line.key, in_rows(line.value));
    } else {
      const std::string spaces(width - width_of(line), ' ');
      text +=
          fmt::format("{} = {}{}{}\n", line.key, line.value, comment.empty() ? "" : spaces + "  # ", comment);
    }
  }
}

std::string lists_json(std::span<const FileReading> readings) {
  Json files = Json::array();
  for (const FileReading& reading : readings) {
    Json file{{"file", reading.file}, {"what", reading.what}, {"facts", reading.facts}};
    Json &taken = file["taken"], &assumed = file["assumed"], &ignored = file["ignored"],
         &unmodelled = file["not_modelled"];
    taken = assumed = ignored = unmodelled = Json::array();
    for (const TakenKey& taken_key : reading.taken)
      taken.push_back(Json{{"from", taken_key.from}, {"key", taken_key.key}, {"value", taken_key.value}});
    for (const AssumedKey& assumed_key : reading.assumed)
      assumed.push_back(Json{{"key", assumed_key.key}, {"value", assumed_key.value}, {"why", assumed_key.why}});
    for (const IgnoredKey& ignored_key : reading.ignored)
      ignored.push_back(Json{{"from", ignored_key.from}, {"why", ignored_key.why}});
    for (const UnmodelledPart& part : reading.unmodelled)
      unmodelled.push_back(Json{{"what", part.what}, {"parameters", part.parameters}, {"flops", part.flops}});
    files.push_back(std::move(file));
  }
  return Json{{"format", "c3sim lists of files 1"}, {"files", std::move(files)}}.dump(2) + '\n';
}

}}  // namespace c3::importers
