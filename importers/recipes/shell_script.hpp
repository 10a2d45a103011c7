#pragma once
/// The options that a shell script gives to a program, read without running it.

#include <functional>
#include <string_view>
#include <vector>

#include "importers/recipes/recipe_keys.hpp"

namespace c3 { inline namespace importers {

/// The options of the command of \p file that has most of those that \p is_known says; of the file's variables
/// and arrays where no command has one. `name` has underscores and no dashes in front. Variables and arrays are
/// expanded, simple tests of `if` decided; what is dynamic is in doubt, and so are options of branches, other
/// commands and arrays that are not used. \throws ConfigError for quotes or brackets that do not end
std::vector<RecipeKey> options_of_script(const ForeignFile& file,
                                         const std::function<bool(std::string_view)>& is_known);

}}  // namespace c3::importers
