#include "importers/recipes/key_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "base/nearest_name.hpp"

namespace c3 { inline namespace importers {
namespace {

constexpr int kMostGuesses = 100;  // a file of unknown keys alone is compared with every name else

template <class Visit>
void for_each_spelling(const RecipeRow& row, Visit visit) {
  std::string_view rest = row.theirs;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('|'), rest.size());
    const std::string_view one = rest.substr(0, end);
    const bool is_opposite = one.starts_with('!');
    visit(is_opposite ? one.substr(1) : one, is_opposite);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
}

std::string_view name_of_row(const RecipeRow& row) { return row.theirs.substr(0, row.theirs.find('|')); }

void turn_around(RecipeKey& key) {
  if (!key.value) return;
  if (auto* flag = std::get_if<bool>(&key.value->value)) *flag = !*flag;
}

Node node_of_toml(std::string_view text) {
  if (text == "true" || text == "false") return {text == "true", {}};
  if (text.starts_with('"')) return {std::string(text.substr(1, text.size() - 2)), {}};
  std::int64_t number = 0;
  for (const char digit : text)
    number = number * 10 + (digit - '0');
  return {number, {}};
}

void take_row(RecipeKeys& keys, const RecipeRow& row, std::string_view source) {
  const std::string_view name = name_of_row(row);
  if (row.as == As::whole) {
    const auto value = keys.whole(name);
    if (value) keys.take(name, row.ours, {*value, {}});
  } else {
    const auto value = keys.flag(name);
    if (value) keys.take(name, row.ours, {row.as == As::flag ? *value : !*value, {}});
  }
  if (!keys.has(name) && !keys.is_in_doubt(name) && !row.fallback.empty())
    keys.assume(row.ours, node_of_toml(row.fallback), std::string(source));
}

/// Whether a key that is not modelled says that there is nothing to model.
bool says_nothing(const RecipeKey& key) {
  if (const auto* flag = std::get_if<bool>(&key.value->value)) return !*flag;
  if (const auto* number = std::get_if<std::int64_t>(&key.value->value)) return *number == 0;
  return false;
}

std::string why_left(const RecipeKey& key, const RecipeRow* row) {
  if (!key.doubt.empty()) {
    const bool is_open = key.doubt.starts_with("not expanded") || key.doubt.ends_with("depends on the run");
    const bool is_ours = is_open && row != nullptr && row->as != As::unrelated && row->as != As::not_modelled;
    return is_ours ? fmt::format("{}; give {} yourself", key.doubt, row->ours) : key.doubt;
  }
  if (!key.value) return "no value, as if it were left out";
  if (row == nullptr) return "";
  if (row->as == As::not_modelled)
    return says_nothing(key) ? "off" : fmt::format("not modelled: {}", row->ours);
  return std::string(row->as == As::unrelated ? row->ours : "says nothing beside the other keys");
}

}  // namespace

void name_by_table(std::vector<RecipeKey>& keys, std::span<const RecipeRow> rows) {
  std::map<std::string_view, std::pair<std::string_view, bool>> names;
  for (const RecipeRow& row : rows)
    for_each_spelling(row, [&](std::string_view one, bool is_opposite) {
      names.try_emplace(one, name_of_row(row), is_opposite);
    });
  for (RecipeKey& key : keys) {
    const auto found = names.find(key.name);
    if (found == names.end()) continue;
    if (found->second.second) turn_around(key);
    key.name = found->second.first;
  }
}

bool knows(std::span<const RecipeRow> rows, std::string_view spelling) {
  return std::ranges::any_of(rows, [&](const RecipeRow& row) {
    bool is_there = false;
    for_each_spelling(row, [&](std::string_view one, bool) { is_there = is_there || one == spelling; });
    return is_there;
  });
}

void take_rows(RecipeKeys& keys, std::span<const RecipeRow> rows, std::string_view source) {
  for (const RecipeRow& row : rows)
    if (row.as == As::whole || row.as == As::flag || row.as == As::opposite) take_row(keys, row, source);
}

void leave_others(RecipeKeys& keys, std::span<const RecipeRow> rows, std::span<const UnrelatedKeys> unrelated) {
  std::map<std::string_view, const RecipeRow*> by_name;
  std::vector<std::string> known;
  for (const RecipeRow& row : rows) {
    by_name.try_emplace(name_of_row(row), &row);
    for_each_spelling(row, [&](std::string_view one, bool) { known.emplace_back(one); });
  }
  int guesses = 0;
  for (const RecipeKey* key : keys.left()) {
    const auto row = by_name.find(key->name);
    std::string why = why_left(*key, row == by_name.end() ? nullptr : row->second);
    if (why.empty()) {
      const auto found = std::ranges::find_if(
          unrelated, [&](const UnrelatedKeys& one) { return key->name.starts_with(one.prefix); });
      if (found != unrelated.end()) why = found->why;
    }
    if (why.empty()) {
      const std::string near = ++guesses > kMostGuesses ? "" : nearest_name(key->name, known);
      why = near.empty() ? "unknown to this reader"
                         : fmt::format("unknown to this reader; did you mean {}?", near);
    }
    keys.leave(*key, std::move(why));
  }
}

}}  // namespace c3::importers
