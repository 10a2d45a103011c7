#include "importers/recipes/megatron/dialect.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "importers/recipes/megatron/table.hpp"

namespace c3 { inline namespace importers {
namespace {

std::vector<RecipeRow> all_rows() {
  std::vector<RecipeRow> rows(megatron_training_rows().begin(), megatron_training_rows().end());
  rows.insert(rows.end(), megatron_model_rows().begin(), megatron_model_rows().end());
  return rows;
}

void leave_model(RecipeKeys& keys) {
  for (const RecipeRow& row : megatron_model_rows()) {
    const std::string_view name = row.theirs.substr(0, row.theirs.find('|'));
    // Rules of a step ask for the number of layers and of experts.
    keys.ignore(name, "the file does not describe a whole model");
  }
}

}  // namespace

FileReading read_megatron(const ForeignFile& file, std::vector<RecipeKey> keys,
                          const MegatronDialect& dialect) {
  name_by_table(keys, all_rows());
  RecipeKeys recipe(file, dialect.what, std::move(keys));
  MegatronReader reader{recipe, dialect};
  const bool has_model = describes_megatron_model(recipe);
  take_rows(recipe, megatron_training_rows(), dialect.defaults);
  if (has_model) take_rows(recipe, megatron_model_rows(), dialect.defaults);
  megatron_layout(reader);
  megatron_pipeline(reader);
  if (has_model) megatron_model(reader);
  megatron_experts(reader);
  if (!has_model) leave_model(recipe);
  megatron_precision(reader);
  megatron_sharding(reader);
  megatron_step(reader);
  if (dialect.has_preset_defaults) recipe.forget_assumed("framework.");
  if (dialect.is_partial)
    recipe.fact("the file lies on a recipe in Python, which may say otherwise what is assumed here");
  recipe.assume("training.framework", {std::string(dialect.framework), {}},
                fmt::format("the file is {}", dialect.what));
  leave_others(recipe, all_rows(), megatron_unrelated());
  return recipe.finish();
}

}}  // namespace c3::importers
