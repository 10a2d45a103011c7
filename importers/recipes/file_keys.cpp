#include "importers/recipes/file_keys.hpp"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>

#include "configs/toml/toml_text.hpp"

namespace c3 { inline namespace importers {
namespace {

constexpr int kDeepestYaml = 64;
constexpr std::size_t kMostNodes = 100'000;  // an alias can stand for a tree in which it stands itself

using FileName = std::shared_ptr<const std::string>;

Origin origin_at(const YAML::Mark& mark, const FileName& file) {
  const auto counted = [](int from_zero) { return static_cast<std::uint32_t>(std::max(from_zero, 0)) + 1; };
  return {file, counted(mark.line), counted(mark.column)};
}

std::optional<std::int64_t> whole_in(std::string_view text) {
  std::int64_t value = 0;
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<double> real_in(std::string_view text) {
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

/// Reads a flag like PyYAML, a scalar without quotes: yes and off are flags, too.
std::optional<bool> yaml_flag(std::string_view text) {
  static constexpr std::string_view kTrue[] = {"true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON"};
  static constexpr std::string_view kFalse[] = {"false", "False", "FALSE", "no", "No",
                                                "NO",    "off",   "Off",   "OFF"};
  if (std::ranges::find(kTrue, text) != std::end(kTrue)) return true;
  if (std::ranges::find(kFalse, text) != std::end(kFalse)) return false;
  return std::nullopt;
}

Node plain_scalar(const std::string& text, const Origin& origin) {
  if (const auto flag = yaml_flag(text)) return {*flag, origin};
  if (const auto whole = whole_in(text)) return {*whole, origin};
  if (const auto real = real_in(text)) return {*real, origin};
  return {text, origin};
}

/// Hears the parser and does nothing.
class NoListener : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t, const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}
};

/// YAML::LoadAll() would find documents without end where a bracket is closed twice.
bool has_more_documents(const std::string& text) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  NoListener listener;
  return parser.HandleNextDocument(listener) && parser.HandleNextDocument(listener);
}

class YamlWalk {
 public:
  explicit YamlWalk(FileName file) : file_(std::move(file)) {}

  void visit(const YAML::Node& node, const std::string& name, int depth) {
    const Origin origin = origin_at(node.Mark(), file_);
    if (depth > kDeepestYaml)
      throw ConfigError(origin, name, fmt::format("is nested deeper than {} levels", kDeepestYaml));
    if (++nodes_ > kMostNodes)
      throw ConfigError(origin, name, fmt::format("is one of more than {} values", kMostNodes));
    if (node.IsMap() && node.size() > 0) {
      visit_map(node, name, depth);
    } else if (node.IsSequence() && has_tables(node)) {
      int number = 0;
      for (const YAML::Node& element : node)
        visit(element, fmt::format("{}[{}]", name, number++), depth + 1);
    } else {
      keys_.push_back({name, name, value_of_leaf(node, origin), origin});
    }
  }

  std::vector<RecipeKey> keys() && { return std::move(keys_); }

 private:
  void visit_map(const YAML::Node& node, const std::string& name, int depth) {
    std::set<std::string> names;
    for (const auto& member : node) {
      const std::string key = member.first.IsScalar() ? member.first.Scalar() : "?";
      const std::string dotted = name.empty() ? key : name + "." + key;
      const Origin origin = origin_at(member.first.Mark(), file_);
      if (key == "?" || key.empty()) throw ConfigError(origin, dotted, "must be a word");
      if (!names.insert(key).second) throw ConfigError(origin, dotted, "is given twice");
      visit(member.second, dotted, depth + 1);
    }
  }

  static bool has_tables(const YAML::Node& list) {
    return std::any_of(list.begin(), list.end(),
                       [](const YAML::Node& one) { return one.IsMap() || one.IsSequence(); });
  }

  std::optional<Node> value_of_leaf(const YAML::Node& node, const Origin& origin) {
    if (node.IsScalar()) return scalar(node, origin);
    if (!node.IsSequence()) return std::nullopt;
    nodes_ += node.size();
    Array list;
    for (const YAML::Node& element : node)
      if (element.IsScalar()) list.push_back(scalar(element, origin_at(element.Mark(), file_)));
    return Node{std::move(list), origin};
  }

  static Node scalar(const YAML::Node& node, const Origin& origin) {
    const bool is_quoted = node.Tag() == "!";
    return is_quoted ? Node{node.Scalar(), origin} : plain_scalar(node.Scalar(), origin);
  }

  FileName file_;
  std::vector<RecipeKey> keys_;
  std::size_t nodes_ = 0;
};

/// "model.hidden" of "${model.hidden}".
std::optional<std::string_view> reference_in(std::string_view text) {
  if (!text.starts_with("${") || !text.ends_with('}')) return std::nullopt;
  text = text.substr(2, text.size() - 3);
  return text.find_first_of("${}:") == std::string_view::npos ? std::optional(text) : std::nullopt;
}

/// "model.hidden" of ".hidden" in "model.positions".
std::string absolute(std::string_view reference, const std::string& from) {
  if (!reference.starts_with('.')) return std::string(reference);
  const std::size_t end = from.rfind('.');
  return end == std::string::npos ? std::string(reference.substr(1))
                                  : from.substr(0, end) + std::string(reference);
}

/// One step: a reference to a reference is in doubt.
void resolve_references(std::vector<RecipeKey>& keys) {
  std::map<std::string, std::optional<Node>, std::less<>> values;
  for (const RecipeKey& key : keys)
    values.try_emplace(key.from, key.value);
  for (RecipeKey& key : keys) {
    const std::string* text = key.value ? key.value->text() : nullptr;
    if (text == nullptr || text->find("${") == std::string::npos) continue;
    const auto reference = reference_in(*text);
    const auto found = reference ? values.find(absolute(*reference, key.from)) : values.end();
    const bool is_plain = found != values.end() && found->second && !found->second->array() &&
                          (!found->second->text() || found->second->text()->find("${") == std::string::npos);
    if (is_plain)
      key.value = Node{found->second->value, key.origin};
    else
      key.doubt = fmt::format("not expanded: {}", *text);
  }
}

void visit_toml(const Table& table, const std::string& name, std::vector<RecipeKey>& keys);

void visit_toml(const Node& node, const std::string& name, std::vector<RecipeKey>& keys) {
  if (const Table* table = node.table()) return visit_toml(*table, name, keys);
  const Array* list = node.array();
  const auto is_nested = [](const Node& one) { return one.table() != nullptr || one.array() != nullptr; };
  if (list != nullptr && std::ranges::any_of(*list, is_nested)) {
    for (std::size_t i = 0; i < list->size(); ++i)
      visit_toml((*list)[i], fmt::format("{}[{}]", name, i), keys);
    return;
  }
  keys.push_back({name, name, node, node.origin});
}

void visit_toml(const Table& table, const std::string& name, std::vector<RecipeKey>& keys) {
  for (const Member& member : table.members())
    visit_toml(member.value, name.empty() ? member.key : name + "." + member.key, keys);
}

void refuse_large(const ForeignFile& file, const FileName& name) {
  if (file.text.size() > kLargestRecipe)
    throw ConfigError({name, 1, 1}, "file",
                      fmt::format("has {} bytes; a recipe has at most {}", file.text.size(), kLargestRecipe));
}

bool is_part_of_key(char c) {
  const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  return is_letter || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
}

/// Keys in JSON: texts behind which a colon comes, one level deep.
std::vector<std::string_view> outer_keys_of_json(std::string_view text) {
  std::vector<std::string_view> keys;
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '{' || text[i] == '[') ++depth;
    if (text[i] == '}' || text[i] == ']') --depth;
    if (text[i] != '"') continue;
    const std::size_t begin = i + 1;
    for (i = begin; i < text.size() && text[i] != '"'; ++i)
      if (text[i] == '\\') ++i;
    if (i >= text.size()) return keys;
    const std::size_t next = text.find_first_not_of(" \t\r\n", i + 1);
    if (depth == 1 && next != std::string_view::npos && text[next] == ':')
      keys.push_back(text.substr(begin, i - begin));
  }
  return keys;
}

std::vector<std::string_view> outer_keys_of_yaml(std::string_view text) {
  std::vector<std::string_view> keys;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t word =
        static_cast<std::size_t>(std::ranges::find_if_not(line, is_part_of_key) - line.begin());
    const bool is_key =
        word > 0 && word < line.size() && line[word] == ':' &&
        (word + 1 == line.size() || std::string_view(" \t\r").find(line[word + 1]) != std::string_view::npos);
    if (is_key) keys.push_back(line.substr(0, word));
  }
  return keys;
}

}  // namespace

std::vector<RecipeKey> keys_of_yaml(const ForeignFile& file) {
  const auto name = std::make_shared<const std::string>(file.name);
  refuse_large(file, name);
  try {
    if (has_more_documents(file.text))
      throw ConfigError({name, 1, 1}, "file", "must be one document; there is something behind its end");
    const YAML::Node document = YAML::Load(file.text);
    if (!document.IsMap()) throw ConfigError({name, 1, 1}, "file", "must be a table of keys and values");
    YamlWalk walk(name);
    walk.visit(document, "", 0);
    std::vector<RecipeKey> keys = std::move(walk).keys();
    resolve_references(keys);
    return keys;
  } catch (const YAML::Exception& error) {
    throw ConfigError(origin_at(error.mark, name), "file", fmt::format("cannot be read: {}", error.msg));
  }
}

std::vector<RecipeKey> keys_of_toml(const ForeignFile& file) {
  refuse_large(file, std::make_shared<const std::string>(file.name));
  std::vector<RecipeKey> keys;
  const Node root = parse_toml(file.text, file.name);
  if (const Table* table = root.table()) visit_toml(*table, "", keys);
  return keys;
}

void name_by_last_part(std::vector<RecipeKey>& keys) {
  for (RecipeKey& key : keys)
    key.name = key.from.substr(key.from.rfind('.') + 1);
}

std::vector<std::string_view> outer_keys(std::string_view text) {
  if (text.size() > kLargestRecipe) return {};
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text[first] == '{' ? outer_keys_of_json(text) : outer_keys_of_yaml(text);
}

bool has_keys(std::span<const std::string_view> outer, std::initializer_list<std::string_view> keys) {
  return std::ranges::all_of(
      keys, [&](std::string_view key) { return std::ranges::find(outer, key) != outer.end(); });
}

}}  // namespace c3::importers
