#include "configs/toml/tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace c3 { inline namespace configs {

namespace {

constexpr std::size_t kManyKeys = 32;  // below, looking through them is faster than an index

}  // namespace

std::size_t Table::place_of(std::string_view key) const {
  if (members_.size() > kManyKeys) {
    const auto found = places_.find(key);
    return found == places_.end() ? members_.size() : found->second;
  }
  return static_cast<std::size_t>(std::ranges::find(members_, key, &Member::key) - members_.begin());
}

const Node* Table::find(std::string_view key) const {
  const std::size_t place = place_of(key);
  return place == members_.size() ? nullptr : &members_[place].value;
}

Node* Table::find(std::string_view key) { return const_cast<Node*>(std::as_const(*this).find(key)); }

Node& Table::put(std::string_view key, const Origin& key_origin, Node value) {
  const std::size_t place = place_of(key);
  if (place == members_.size()) {
    members_.emplace_back(Member{std::string(key), key_origin, std::move(value)});
    if (members_.size() > kManyKeys + 1) {
      places_.emplace(key, place);
    } else if (members_.size() == kManyKeys + 1) {
      index();
    }
    return members_.back().value;
  }
  Member& found = members_[place];
  found.origin = key_origin;
  found.value = std::move(value);
  return found.value;
}

void Table::erase(std::string_view key) {
  if (std::erase_if(members_, [&](const Member& m) { return m.key == key; }) > 0) index();
}

void Table::index() {
  places_.clear();
  if (members_.size() <= kManyKeys) return;
  for (std::size_t i = 0; i < members_.size(); ++i)
    places_.emplace(members_[i].key, i);
}

std::string_view type_of(const Node& node) {
  static constexpr std::array<std::string_view, 6> kNames = {"a boolean", "an integer", "a float",
                                                             "a string",  "an array",   "a table"};
  return kNames.at(node.value.index());
}

std::string wrong_type(std::string_view wanted, const Node& got) {
  return fmt::format("must be {}, not {}", wanted, type_of(got));
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

}}  // namespace c3::configs
