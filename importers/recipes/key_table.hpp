#pragma once
/// Keys of a framework as tables: what each becomes, and which do not matter.

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "importers/recipes/recipe_keys.hpp"

namespace c3 { inline namespace importers {

/// What becomes of a key.
enum class As : std::uint8_t {
  whole,         ///< a whole number, ours as it is
  flag,          ///< true or false, ours as it is
  opposite,      ///< true or false, ours the other way round
  rule,          ///< with others, as a reader's rule says
  not_modelled,  ///< c3sim has no word for it
  unrelated,     ///< changes neither times nor memory here
};

/// A row of a framework's table, which is its documentation.
struct RecipeRow {
  /// The framework's name, and other spellings behind "|"; one with "!" before it is a flag that says the
  /// opposite.
  std::string_view theirs;
  As as;
  std::string_view ours;  ///< our keys; of one that is not modelled or unrelated: why
  std::string_view meaning = {};
  std::string_view fallback = {};  ///< ours, as TOML writes it, where the file leaves the key out; empty: none
};

/// Keys that begin alike and do not matter.
struct UnrelatedKeys {
  std::string_view prefix;
  std::string_view why;
};

/// Gives keys the names of \p rows, whichever spelling the file has.
void name_by_table(std::vector<RecipeKey>& keys, std::span<const RecipeRow> rows);

/// Whether a row has \p spelling.
bool knows(std::span<const RecipeRow> rows, std::string_view spelling);

/// Takes what needs no rule, and assumes what the file leaves out.
/// \param source of the defaults: "Megatron-LM's default (..)"
void take_rows(RecipeKeys& keys, std::span<const RecipeRow> rows, std::string_view source);

/// What became of nothing else: keys in doubt, empty ones, unrelated ones and unknown ones.
void leave_others(RecipeKeys& keys, std::span<const RecipeRow> rows, std::span<const UnrelatedKeys> unrelated);

}}  // namespace c3::importers
