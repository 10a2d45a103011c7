#include "app/list/number_list.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <sstream>

namespace c3 { inline namespace app {
namespace {

constexpr std::size_t kIndent = 4;  // columns

Json plain_json(const Node& node) {
  if (const Array* list = node.array()) {
    Json texts = Json::array();
    for (const Node& element : *list)
      texts.push_back(plain_json(element));
    return texts;
  }
  if (const std::string* text = node.text()) return *text;
  if (const bool* flag = std::get_if<bool>(&node.value)) return *flag;
  if (const auto* integer = std::get_if<std::int64_t>(&node.value)) return *integer;
  return std::get<double>(node.value);
}

/// The rule of \p key in \p rule; nullptr where there is none. A name that the file chooses stands as an
/// example.
const KeyRule* find_key(const TableRule* rule, const std::string& key) {
  if (rule == nullptr) return nullptr;
  const KeyRule* chosen = nullptr;
  for (const KeyRule& known : rule->keys) {
    if (known.presence != Presence::chosen && known.key == key) return &known;
    if (known.presence == Presence::chosen && key.starts_with(known.prefix)) chosen = &known;
  }
  return chosen;
}

/// \param path of \p table, with a dot at its end.
void add_numbers(std::vector<Json>& numbers, const std::string& name, const std::string& path,
                 const Table& table, const TableRule* rule) {
  for (const Member& member : table.members()) {
    if (member.value.table() == nullptr) continue;
    const KeyRule* key = find_key(rule, member.key);
    if (!is_sourced_value(member.value)) {
      const auto* inner = key == nullptr ? nullptr : std::get_if<TableRule>(&key->rule->form);
      add_numbers(numbers, name, fmt::format("{}{}.", path, member.key), *member.value.table(), inner);
      continue;
    }
    Json& number = numbers.emplace_back(Json{{"name", name}, {"key", path + member.key}});
    number["meaning"] = key == nullptr ? "" : key->meaning;
    for (const Member& part : member.value.table()->members())
      number[part.key] = plain_json(part.value);
  }
}

std::string text_of(const Json& value) {
  if (value.is_text()) return value.text();
  if (value.is_floating()) return fmt::format("{:g}", value.number());
  if (value.is_array()) return fmt::format("{}", fmt::join(value.texts(), ", "));
  return value.dump();
}

/// A range as "low .. nominal .. high".
std::string value_text(const Json& number) {
  if (number.contains("value")) return text_of(number["value"]);
  return fmt::format("{} .. {} .. {}", text_of(number["low"]), text_of(number["nominal"]),
                     text_of(number["high"]));
}

/// Prints \p text in lines of \p width, the first behind \p first spaces, others behind kIndent. No word is
/// cut.
void print_wrapped(const std::string& text, std::size_t first, std::size_t width) {
  std::istringstream in(text);
  std::string line(first, ' ');
  bool is_begun = false;
  for (std::string word; in >> word; is_begun = true) {
    if (is_begun && line.size() + 1 + word.size() > width) {
      fmt::print("{}\n", line);
      line = std::string(kIndent, ' ');
    } else if (is_begun) {
      line += ' ';
    }
    line += word;
  }
  fmt::print("{}\n", line);
}

}  // namespace

std::vector<Json> numbers_of(PresetKind kind, const std::string& name) {
  const Node preset = load_preset(kind, name, {}, name);
  std::vector<Json> numbers;
  add_numbers(numbers, name, "", *preset.table(), &preset_rule(kind));
  return numbers;
}

void print_numbers(const std::vector<Json>& numbers, std::size_t width) {
  for (const Json& number : numbers) {
    const std::string head = fmt::format("{} {} = {} ({})", number["name"].text(), number["key"].text(),
                                         value_text(number), number["kind"].text());
    print_wrapped(head, 0, width);
    print_wrapped(number["meaning"].text(), kIndent, width);
    print_wrapped("source: " + number["source"].text(), kIndent, width);
  }
}

}}  // namespace c3::app
