// Products in the type in which layers compute.

#include "workloads/models/precision/recipe.hpp"

namespace c3 { inline namespace workloads {

extern constexpr RecipeEntry k16Bit = {.name = "16bit"};

}}  // namespace c3::workloads
