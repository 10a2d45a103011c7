#pragma once
/// Files with which training frameworks are configured, as keys of an experiment.

#include <string_view>

#include "configs/foreign/file_reading.hpp"

namespace c3 { inline namespace importers {

inline constexpr std::string_view kMegatronScriptFile = "a script with arguments of Megatron-LM";
inline constexpr std::string_view kMegatronYamlFile = "a list of Megatron-LM's arguments in YAML";
inline constexpr std::string_view kTorchtitanFile = "a configuration of torchtitan";
inline constexpr std::string_view kDeepSpeedFile = "a configuration of DeepSpeed";
inline constexpr std::string_view kAccelerateFile = "a configuration of Accelerate";
inline constexpr std::string_view kMegatronBridgeFile = "a configuration of Megatron-Bridge";
inline constexpr std::string_view kNemoFile = "a configuration of NeMo";
inline constexpr std::string_view kLightningFile = "a configuration of Lightning";

// Whether a text is such a file: by what it holds, in time in proportion to its length, without throwing. No
// text is two of them.
bool is_megatron_script(std::string_view text);
bool is_megatron_yaml(std::string_view text);
bool is_torchtitan(std::string_view text);
bool is_deepspeed(std::string_view text);
bool is_accelerate(std::string_view text);
bool is_megatron_bridge(std::string_view text);
bool is_nemo(std::string_view text);
bool is_lightning(std::string_view text);

// Keys of [training], [framework], [model] and `nodes`. \throws ConfigError with the places of all that is
// wrong, and of what the framework itself refuses
FileReading read_megatron_script(const ForeignFile& file);
FileReading read_megatron_yaml(const ForeignFile& file);
FileReading read_torchtitan(const ForeignFile& file);
FileReading read_deepspeed(const ForeignFile& file);
FileReading read_accelerate(const ForeignFile& file);
FileReading read_megatron_bridge(const ForeignFile& file);
FileReading read_nemo(const ForeignFile& file);
FileReading read_lightning(const ForeignFile& file);

}}  // namespace c3::importers
