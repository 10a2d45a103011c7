#include "configs/overrides.hpp"

#include <fmt/format.h>

#include <charconv>
#include <memory>
#include <string>
#include <vector>

#include "configs/nesting.hpp"
#include "configs/toml_text.hpp"

namespace c3 {
namespace {

enum class Action { set, add, remove };

/// A --set taken apart.
struct Change {
  Action action = Action::set;
  std::string path;  ///< as written, for messages
  std::vector<std::string> keys;
  std::string value;
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
  if (change.keys.size() > kMostKeyParts) {
    throw ConfigError(change.origin, "syntax", fmt::format("a key has at most {} parts", kMostKeyParts));
  }
  if (wants_value) change.value = rest.substr(equals + 1);
  return change;
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
Node value_of(const Change& change) {
  Node value{change.value, change.origin};
  try {
    const Node parsed = parse_toml("value = " + change.value, "--set");
    if (parsed.table()->members().size() == 1) value = *parsed.table()->find("value");
  } catch (const ConfigError&) {
    value.value = change.value;
  }
  set_origin(value, change.origin);
  return value;
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

}  // namespace

void apply_override(Node& document, std::string_view set, std::uint32_t number) {
  const Change change = take_apart(set, number);
  Node& holder = holder_of(document, change);
  const std::string& key = change.keys.back();
  if (holder.array() != nullptr && change.action == Action::set) {
    element_of(*holder.array(), key, change) = value_of(change);
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
  table->put(key, change.origin, value_of(change));
}

}  // namespace c3
