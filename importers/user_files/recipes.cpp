#include "importers/recipes/recipes.hpp"

#include "importers/user_files/entries.hpp"

namespace c3 { inline namespace importers {
namespace {

constexpr std::string_view kRecipeCommand = "c3sim new --recipe FILE --system NAME";

}  // namespace

constexpr FileFormat kMegatronScript{.name = "megatron-script",
                                     .what = kMegatronScriptFile,
                                     .role = FileRole::recipe,
                                     .recognises = is_megatron_script,
                                     .read = read_megatron_script,
                                     .command = kRecipeCommand};

constexpr FileFormat kMegatronYaml{.name = "megatron-yaml",
                                   .what = kMegatronYamlFile,
                                   .role = FileRole::recipe,
                                   .recognises = is_megatron_yaml,
                                   .read = read_megatron_yaml,
                                   .command = kRecipeCommand};

constexpr FileFormat kTorchtitan{.name = "torchtitan",
                                 .what = kTorchtitanFile,
                                 .role = FileRole::recipe,
                                 .recognises = is_torchtitan,
                                 .read = read_torchtitan,
                                 .command = kRecipeCommand};

constexpr FileFormat kDeepSpeed{.name = "deepspeed",
                                .what = kDeepSpeedFile,
                                .role = FileRole::recipe,
                                .recognises = is_deepspeed,
                                .read = read_deepspeed,
                                .command = kRecipeCommand};

constexpr FileFormat kAccelerate{.name = "accelerate",
                                 .what = kAccelerateFile,
                                 .role = FileRole::recipe,
                                 .recognises = is_accelerate,
                                 .read = read_accelerate,
                                 .command = kRecipeCommand};

constexpr FileFormat kMegatronBridge{.name = "megatron-bridge",
                                     .what = kMegatronBridgeFile,
                                     .role = FileRole::recipe,
                                     .recognises = is_megatron_bridge,
                                     .read = read_megatron_bridge,
                                     .command = kRecipeCommand};

constexpr FileFormat kNemo{.name = "nemo",
                           .what = kNemoFile,
                           .role = FileRole::recipe,
                           .recognises = is_nemo,
                           .read = read_nemo,
                           .command = kRecipeCommand};

constexpr FileFormat kLightning{.name = "lightning",
                                .what = kLightningFile,
                                .role = FileRole::recipe,
                                .recognises = is_lightning,
                                .read = read_lightning,
                                .command = kRecipeCommand};

}}  // namespace c3::importers
