#pragma once
/// The arguments of Megatron-LM and Megatron-Core as a table, which is their documentation.

#include <span>

#include "importers/recipes/key_table.hpp"

namespace c3 { inline namespace importers {

/// Rows for [training], [framework] and `nodes`.
std::span<const RecipeRow> megatron_training_rows();

/// Rows for [model].
std::span<const RecipeRow> megatron_model_rows();

/// Arguments that begin alike and change neither times nor memory.
std::span<const UnrelatedKeys> megatron_unrelated();

}}  // namespace c3::importers
