#include "configs/jobs/unused_keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "configs/fields/fabric_fields.hpp"
#include "configs/fields/library_fields.hpp"
#include "configs/jobs/run_conditions.hpp"
#include "configs/presets/preset_store.hpp"
#include "configs/toml/overrides.hpp"

namespace c3 { inline namespace configs {
namespace {

/// A table of which a document may override keys.
struct Overridable {
  PresetKind kind;
  Conditions used_if = {};  ///< conditions for all its keys
};
constexpr auto kTables = std::to_array<Overridable>({{PresetKind::gpu},
                                                     {PresetKind::node},
                                                     {PresetKind::library, kLibraryUse},
                                                     {PresetKind::fabric, kFabricUse},
                                                     {PresetKind::framework}});

void add_keys(std::vector<std::string>& keys, const std::string& path, const Node& value) {
  if (value.table() == nullptr || is_sourced_value(value)) {
    keys.push_back(path);
    return;
  }
  for (const Member& member : value.table()->members())
    add_keys(keys, fmt::format("{}.{}", path, member.key), member.value);
}

void add_conditions(std::vector<When>& conditions, const Conditions& more) {
  std::ranges::remove_copy(more, std::back_inserter(conditions), When::always);
}

/// The rule of \p name, which may be one that the file chose; nullptr without any.
const KeyRule* rule_of(const TableRule& table, std::string_view name) {
  const auto found = std::ranges::find_if(table.keys, [&](const KeyRule& key) {
    return key.presence == Presence::chosen ? name.starts_with(key.prefix) : key.key == name;
  });
  return found == table.keys.end() ? nullptr : &*found;
}

}  // namespace

std::vector<std::string> overridden_keys(const Table& document) {
  std::vector<std::string> keys;
  for (const Overridable& overridable : kTables) {
    const std::string_view name = noun_of(overridable.kind);
    const Node* table = document.find(name);
    const bool is_whole =
        table == nullptr || table->table() == nullptr || table->table()->find("name") != nullptr;
    if (!is_whole) add_keys(keys, std::string(name), *table);
  }
  return keys;
}

std::vector<std::string> overridden_keys(std::span<const std::string> sets) {
  Node document{Table{}, {}};
  std::uint32_t number = 0;
  for (const std::string& set : sets)
    apply_override(document, set, ++number);
  return overridden_keys(*document.table());
}

DeclaredKey declared_key(std::string_view key) {
  DeclaredKey declared;
  std::size_t end = key.find('.');
  const auto table = std::ranges::find(
      kTables, key.substr(0, end), [](const Overridable& overridable) { return noun_of(overridable.kind); });
  if (table == kTables.end()) return declared;
  add_conditions(declared.used_if, table->used_if);
  const TableRule* keys = &preset_keys(table->kind);
  while (keys != nullptr && end != std::string_view::npos) {
    key.remove_prefix(end + 1);
    end = key.find('.');
    const KeyRule* rule = rule_of(*keys, key.substr(0, end));
    if (rule == nullptr) return declared;
    add_conditions(declared.used_if, rule->used_if);
    keys = rule->rule ? std::get_if<TableRule>(&rule->rule->form) : nullptr;
  }
  declared.is_known = end == std::string_view::npos;
  return declared;
}

std::vector<std::string> unused_keys(std::span<const std::string> keys, const ClusterSpec& cluster,
                                     const RunUse& use) {
  std::vector<std::string> notes;
  for (const std::string& key : keys) {
    const Question question{cluster, use, std::string_view(key).substr(key.rfind('.') + 1)};
    for (const When condition : declared_key(key).used_if) {
      const std::optional<std::string> reason = why_not(condition, question);
      if (!reason) continue;
      notes.push_back(fmt::format("{}: not used here: {}", key, *reason));
      break;
    }
  }
  return notes;
}

}}  // namespace c3::configs
