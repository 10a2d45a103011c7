#pragma once
/// JSON Schema of configuration files, made from what their readers declare.

#include <optional>
#include <string>

#include "configs/presets/preset_store.hpp"

namespace c3 { inline namespace configs {

/// \returns a schema (Draft 4, the newest that TOML editors know) of presets of \p kind; absent: of
/// experiments. It is as strict as a schema can be: names that refer to other parts of the file, and numbers
/// that bound each other, are checked by reading.
std::string json_schema(std::optional<PresetKind> kind);

}}  // namespace c3::configs
