#include "configs/toml/overrides.hpp"

#include <fmt/format.h>

#include <charconv>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "configs/toml/nesting.hpp"
#include "configs/toml/toml_text.hpp"

namespace c3 { inline namespace configs {
namespace {

enum class Action { set, add, remove };

/// One key that changes.
struct Change {
  Action action = Action::set;
  std::string path;  ///< spelled as written, for messages
  std::vector<std::string> keys;
  Node value;  ///< unless it is removed
  Origin origin;
};

std::vector<std::string> split_path(std::string_view path) {
  std::vector<std::string> keys(1);
  for (const char c : path) {
    if (c == '.') {
      keys.emplace_back();
    } else {
      keys.back() += c;
    }
  }
  return keys;
}

void set_origin(Node& node, const Origin& origin) {
  node.origin = origin;
  if (Array* array = node.array()) {
    for (Node& element : *array)
      set_origin(element, origin);
  } else if (const Table* table = node.table()) {
    Table moved;
    for (Member member : table->members()) {
      set_origin(member.value, origin);
      moved.put(member.key, origin, std::move(member.value));
    }
    node.value = std::move(moved);
  }
}

/// `8`, `true`, `[1, 2]` and `"text"` are TOML; anything else, such as `4.2 TB/s`, is a string as it stands.
Node value_of(const std::string& text, const Origin& origin) {
  Node value{text, origin};
  try {
    const Node parsed = parse_toml("value = " + text, "--set");
    if (parsed.table()->members().size() == 1) value = *parsed.table()->find("value");
  } catch (const ConfigError&) {
    value.value = text;
  }
  set_origin(value, origin);
  return value;
}

void refuse_deep_path(const Change& change) {
  if (change.keys.size() > kMostKeyParts) {
    throw ConfigError(change.origin, "syntax", fmt::format("a key has at most {} parts", kMostKeyParts));
  }
}

Change take_apart(std::string_view set, std::uint32_t number) {
  Change change;
  change.origin = {std::make_shared<const std::string>("--set"), number, 1};
  std::string_view rest = set;
  if (rest.starts_with('+')) change.action = Action::add;
  if (rest.starts_with('~')) change.action = Action::remove;
  if (change.action != Action::set) rest.remove_prefix(1);

  const std::size_t equals = rest.find('=');
  const bool wants_value = change.action != Action::remove;
  change.path = rest.substr(0, equals);
  change.keys = split_path(change.path);
  bool malformed = wants_value != (equals != std::string_view::npos);
  for (const std::string& key : change.keys)
    malformed = malformed || key.empty();
  if (malformed) {
    throw ConfigError(change.origin, set,
                      "expected key=value, +key=value or ~key, with key like measure.seeds");
  }
  refuse_deep_path(change);
  if (wants_value) change.value = value_of(std::string(rest.substr(equals + 1)), change.origin);
  return change;
}

Node& element_of(Array& array, const std::string& key, const Change& change) {
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), index);
  if (error != std::errc() || end != key.data() + key.size() || index >= array.size()) {
    throw ConfigError(change.origin, change.path,
                      fmt::format("'{}' is not an index of a list of {}", key, array.size()));
  }
  return array[index];
}

/// The table (or list) that holds the last key; tables on the way are made when the key is to be set.
Node& holder_of(Node& document, const Change& change) {
  if (Node* fabric = change.keys.size() > 1 && change.keys.front() == "fabric"
                         ? document.table()->find("fabric")
                         : nullptr)
    spell_out_use(*fabric);
  Node* holder = &document;
  for (std::size_t i = 0; i + 1 < change.keys.size(); ++i) {
    const std::string& key = change.keys[i];
    if (Array* array = holder->array()) {
      holder = &element_of(*array, key, change);
      continue;
    }
    Table* table = holder->table();
    if (table == nullptr) {
      throw ConfigError(change.origin, change.path, fmt::format("'{}' is inside {}", key, type_of(*holder)));
    }
    Node* next = table->find(key);
    if (next == nullptr) {
      if (change.action == Action::remove) {
        throw ConfigError(change.origin, change.path, "there is no such key to delete");
      }
      next = &table->put(key, change.origin, Node{Table{}, change.origin});
    }
    holder = next;
  }
  return *holder;
}

void apply(Node& document, Change change) {
  Node& holder = holder_of(document, change);
  const std::string& key = change.keys.back();
  if (holder.array() != nullptr && change.action == Action::set) {
    element_of(*holder.array(), key, change) = std::move(change.value);
    return;
  }
  Table* table = holder.table();
  if (table == nullptr) {
    throw ConfigError(change.origin, change.path, fmt::format("'{}' is inside {}", key, type_of(holder)));
  }
  const bool exists = table->find(key) != nullptr;
  if (change.action == Action::remove) {
    if (!exists) throw ConfigError(change.origin, change.path, "there is no such key to delete");
    table->erase(key);
    return;
  }
  if (change.action == Action::add && exists) {
    throw ConfigError(change.origin, change.path, "the key exists already; write it without '+' to replace it");
  }
  table->put(key, change.origin, std::move(change.value));
}

}  // namespace

void spell_out_use(Node& node) {
  if (node.text() == nullptr) return;
  Table named;
  named.put("use", node.origin, Node{*node.text(), node.origin});
  node.value = std::move(named);
}

void apply_override(Node& document, std::string_view set, std::uint32_t number) {
  apply(document, take_apart(set, number));
}

void override_value(Node& document, std::string_view path, Node value) {
  const Origin origin = value.origin;
  Change change{.action = Action::set,
                .path = std::string(path),
                .keys = split_path(path),
                .value = std::move(value),
                .origin = origin};
  refuse_deep_path(change);
  apply(document, std::move(change));
}

}}  // namespace c3::configs
