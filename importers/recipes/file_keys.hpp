#pragma once
/// Files of nested keys as lists of keys.

#include <span>
#include <string_view>
#include <vector>

#include "importers/recipes/recipe_keys.hpp"

namespace c3 { inline namespace importers {

/// The keys of a text in YAML or JSON, dotted: "model.parallel.size", "callbacks[0].name" of tables in a list.
/// "${model.hidden}" is put in place of itself, any other "${..}" is in doubt. \throws ConfigError for what is
/// neither, a key given twice, several documents, deep nesting, or more keys than a person writes
std::vector<RecipeKey> keys_of_yaml(const ForeignFile& file);

/// The keys of a text in TOML, likewise.
std::vector<RecipeKey> keys_of_toml(const ForeignFile& file);

/// Lets `name` be what is behind the last dot.
void name_by_last_part(std::vector<RecipeKey>& keys);

/// The keys at the left margin of a text in YAML, and of the outermost object of one in JSON. Empty where it is
/// neither by the looks of it. Never throws.
std::vector<std::string_view> outer_keys(std::string_view text);

/// Whether all of \p keys are among \p outer.
bool has_keys(std::span<const std::string_view> outer, std::initializer_list<std::string_view> keys);

}}  // namespace c3::importers
