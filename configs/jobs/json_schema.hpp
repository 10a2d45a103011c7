#pragma once
/// JSON Schema of configuration files, made from what their readers declare.

#include <optional>
#include <string>

#include "configs/presets/preset_store.hpp"

namespace c3 { inline namespace configs {

/// Makes a schema (Draft 4, the newest that TOML editors know) for presets of \p kind, or for experiments when
/// it is absent. The schema is as strict as possible; names that refer to other parts of the file, and
/// numbers that bound each other, are only checked when the file is read.
std::string json_schema(std::optional<PresetKind> kind);

}}  // namespace c3::configs
