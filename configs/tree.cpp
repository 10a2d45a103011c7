#include "configs/tree.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace c3 {

const Node* Table::find(std::string_view key) const {
  const auto found = std::ranges::find(members_, key, &Member::key);
  return found == members_.end() ? nullptr : &found->value;
}

Node* Table::find(std::string_view key) { return const_cast<Node*>(std::as_const(*this).find(key)); }

Node& Table::put(std::string_view key, const Origin& key_origin, Node value) {
  const auto found = std::ranges::find(members_, key, &Member::key);
  if (found == members_.end()) {
    return members_.emplace_back(Member{std::string(key), key_origin, std::move(value)}).value;
  }
  found->origin = key_origin;
  found->value = std::move(value);
  return found->value;
}

void Table::erase(std::string_view key) {
  std::erase_if(members_, [&](const Member& m) { return m.key == key; });
}

std::string_view type_of(const Node& node) {
  static constexpr std::array<std::string_view, 6> kNames = {"a boolean", "an integer", "a float",
                                                             "a string",  "an array",   "a table"};
  return kNames.at(node.value.index());
}

bool is_sourced_value(const Node& node) {
  static constexpr std::array<std::string_view, 4> kMarks = {"value", "low", "nominal", "high"};
  const Table* table = node.table();
  return table != nullptr &&
         std::ranges::any_of(kMarks, [&](auto mark) { return table->find(mark) != nullptr; });
}

void merge(Table& base, const Table& over) {
  for (const Member& member : over.members()) {
    Node* old = base.find(member.key);
    const bool both_tables = old != nullptr && old->table() != nullptr && member.value.table() != nullptr;
    if (both_tables && !is_sourced_value(*old) && !is_sourced_value(member.value)) {
      merge(*old->table(), *member.value.table());
    } else {
      base.put(member.key, member.origin, member.value);
    }
  }
}

}  // namespace c3
