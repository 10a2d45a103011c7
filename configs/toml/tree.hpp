#pragma once
/// A configuration in memory: tables in file order, every key and value with the place where it was written.
/// Independent of the TOML parser, which only toml_text.cpp knows.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "configs/toml/config_error.hpp"

namespace c3 { inline namespace configs {

struct Node;
struct Member;
using Array = std::vector<Node>;

/// Keys and values in the order of the file.
class Table {
 public:
  const std::vector<Member>& members() const { return members_; }
  bool empty() const { return members_.empty(); }

  const Node* find(std::string_view key) const;  ///< nullptr when absent
  Node* find(std::string_view key);

  /// Replaces the value of \p key in its place, or appends the key.
  Node& put(std::string_view key, const Origin& key_origin, Node value);
  void erase(std::string_view key);  ///< nothing happens when absent

 private:
  std::size_t place_of(std::string_view key) const;  ///< members_.size() when absent
  void index();

  std::vector<Member> members_;
  std::map<std::string, std::size_t, std::less<>> places_;  ///< places of all members, once there are many
};

struct Node {
  std::variant<bool, std::int64_t, double, std::string, Array, Table> value;
  Origin origin;

  const Table* table() const { return std::get_if<Table>(&value); }
  Table* table() { return std::get_if<Table>(&value); }
  const Array* array() const { return std::get_if<Array>(&value); }
  Array* array() { return std::get_if<Array>(&value); }
  const std::string* text() const { return std::get_if<std::string>(&value); }
};

struct Member {
  std::string key;
  Origin origin;  ///< the key's place
  Node value;
};

/// "a table", "an integer", ...: what \p node is, for error messages.
std::string_view type_of(const Node& node);

/// An error text: \p wanted says what a node must be, and \p got is what it is instead.
std::string wrong_type(std::string_view wanted, const Node& got);

/// A number (or choice) with its provenance, `{ value = .. }` or `{ low = .., nominal = .., high = .. }`.
bool is_sourced_value(const Node& node);

/// Lays \p over on \p base: tables merge key by key, everything else is replaced. A sourced value is replaced
/// whole, so that a source never outlives the number it spoke for.
void merge(Table& base, const Table& over);

}}  // namespace c3::configs
