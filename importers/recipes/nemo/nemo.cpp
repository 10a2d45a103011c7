#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "importers/recipes/file_keys.hpp"
#include "importers/recipes/megatron/dialect.hpp"
#include "importers/recipes/recipe_kinds.hpp"
#include "importers/recipes/recipes.hpp"

namespace c3 { inline namespace importers {
namespace {

/// Keys below a section have Megatron's names, behind \p put.
struct KeySection {
  std::string_view prefix;
  std::string_view put = {};
};

// NVIDIA-NeMo/Megatron-Bridge @067f987d: src/megatron/bridge/training/config.py (ConfigContainer),
// comm_overlap.py and mixed_precision.py, whose keys prevail over those of model, optimizer and ddp.
constexpr auto kBridgeSections = std::to_array<KeySection>(
    {{"model."}, {"train."}, {"ddp."}, {"optimizer."}, {"dataset."}, {"comm_overlap."}, {"mixed_precision."}});
constexpr auto kBridgeLast = std::to_array<std::string_view>({"comm_overlap", "mixed_precision"});

// NVIDIA/NeMo @8cfedd72: nemo/lightning/pytorch/strategies/megatron_strategy.py, nemo/collections/llm; of its
// first release examples/nlp/language_modeling/conf/megatron_gpt_config.yaml before @e564e669. Longer prefixes
// first.
constexpr auto kNemoSections = std::to_array<KeySection>({{"trainer.strategy.ddp."},
                                                          {"trainer.strategy."},
                                                          {"trainer.plugins."},
                                                          {"trainer.callbacks."},
                                                          {"trainer."},
                                                          {"model.config."},
                                                          {"model.optim.", "optim."},
                                                          {"model.data."},
                                                          {"model."},
                                                          {"data."},
                                                          {"optim.config."}});
constexpr auto kNemoLast = std::to_array<std::string_view>({"trainer.plugins", "trainer.callbacks"});

constexpr MegatronDialect kOfBridge{
    .what = kMegatronBridgeFile,
    .framework = "megatron-bridge",
    .defaults =
        "Megatron-Core's default, or Megatron-Bridge's (src/megatron/bridge/training/config.py @067f987d)",
    .overlaps_pipeline = true,
    .has_preset_defaults = true,
    .is_partial = true};

constexpr MegatronDialect kOfNemo{
    .what = kNemoFile,
    .framework = "nemo",
    .defaults = "Megatron-Core's default (megatron/core @d98e8a64), which NeMo leaves",
    .overlaps_pipeline = false,
    .has_preset_defaults = true};

/// "trainer.callbacks.name" of "trainer.callbacks[3].name".
std::string without_numbers(std::string_view name) {
  std::string plain;
  bool is_number = false;
  for (const char c : name) {
    is_number = (is_number || c == '[') && c != ']';
    if (!is_number && c != ']') plain += c;
  }
  return plain;
}

void name_by_sections(std::vector<RecipeKey>& keys, std::span<const KeySection> sections) {
  for (RecipeKey& key : keys) {
    const std::string plain = without_numbers(key.from);
    const auto found =
        std::ranges::find_if(sections, [&](const KeySection& one) { return plain.starts_with(one.prefix); });
    const bool is_class =
        plain.substr(plain.rfind('.') + 1).starts_with('_') && !plain.ends_with("activation_func._target_");
    if (is_class) key.name = "_" + key.from;
    if (found != sections.end() && !is_class)
      key.name = std::string(found->put) + plain.substr(found->prefix.size());
  }
}

/// What prevails comes last.
void put_last(std::vector<RecipeKey>& keys, std::span<const std::string_view> sections) {
  std::stable_partition(keys.begin(), keys.end(), [&](const RecipeKey& key) {
    return std::ranges::none_of(sections, [&](std::string_view one) { return key.from.starts_with(one); });
  });
}

/// An empty key says nothing beside one that is given elsewhere.
void drop_empty_twins(std::vector<RecipeKey>& keys) {
  std::stable_partition(keys.begin(), keys.end(), [](const RecipeKey& key) { return !key.value; });
}

}  // namespace

bool is_megatron_bridge(std::string_view text) { return recipe_kind_of(text) == RecipeKind::megatron_bridge; }

bool is_nemo(std::string_view text) { return recipe_kind_of(text) == RecipeKind::nemo; }

FileReading read_megatron_bridge(const ForeignFile& file) {
  std::vector<RecipeKey> keys = keys_of_yaml(file);
  name_by_sections(keys, kBridgeSections);
  put_last(keys, kBridgeLast);
  drop_empty_twins(keys);
  return read_megatron(file, std::move(keys), kOfBridge);
}

FileReading read_nemo(const ForeignFile& file) {
  std::vector<RecipeKey> keys = keys_of_yaml(file);
  MegatronDialect dialect = kOfNemo;
  // The first release turns sequence parallelism off by itself; later ones leave that to Megatron-Core, which
  // refuses.
  dialect.drops_sequence_parallel =
      std::ranges::any_of(keys, [](const RecipeKey& key) { return key.from == "model.sequence_parallel"; });
  name_by_sections(keys, kNemoSections);
  put_last(keys, kNemoLast);
  drop_empty_twins(keys);
  return read_megatron(file, std::move(keys), dialect);
}

}}  // namespace c3::importers
