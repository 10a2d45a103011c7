#include <algorithm>
#include <vector>

#include "importers/recipes/file_keys.hpp"
#include "importers/recipes/megatron/dialect.hpp"
#include "importers/recipes/megatron/table.hpp"
#include "importers/recipes/recipe_kinds.hpp"
#include "importers/recipes/recipes.hpp"
#include "importers/recipes/shell_script.hpp"

namespace c3 { inline namespace importers {
namespace {

constexpr std::string_view kArgumentDefaults =
    "Megatron-LM's default (megatron/training/arguments.py @d98e8a64 and the configurations that it includes)";

constexpr MegatronDialect kOfScripts{.what = kMegatronScriptFile,
                                     .framework = "megatron-core",
                                     .defaults = kArgumentDefaults,
                                     .drops_sequence_parallel = true,
                                     .groups_queries_by_flag = true,
                                     .latent_kv_rank = 32,
                                     .latent_query_rank = 0};

constexpr MegatronDialect kOfYaml{.what = kMegatronYamlFile,
                                  .framework = "megatron-core",
                                  .defaults = kArgumentDefaults,
                                  .drops_sequence_parallel = true,
                                  .latent_kv_rank = 32,
                                  .latent_query_rank = 0};

bool is_megatron_option(std::string_view name) {
  return knows(megatron_training_rows(), name) || knows(megatron_model_rows(), name);
}

}  // namespace

bool is_megatron_script(std::string_view text) { return recipe_kind_of(text) == RecipeKind::megatron_script; }

bool is_megatron_yaml(std::string_view text) { return recipe_kind_of(text) == RecipeKind::megatron_yaml; }

FileReading read_megatron_script(const ForeignFile& file) {
  return read_megatron(file, options_of_script(file, is_megatron_option), kOfScripts);
}

FileReading read_megatron_yaml(const ForeignFile& file) {
  std::vector<RecipeKey> keys = keys_of_yaml(file);
  name_by_last_part(keys);
  return read_megatron(file, std::move(keys), kOfYaml);
}

}}  // namespace c3::importers
