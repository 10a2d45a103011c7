#pragma once
/// [model] from = "config.json": a model that another tool's file describes.

#include "configs/foreign/file_reading.hpp"
#include "configs/toml/rule.hpp"
#include "configs/toml/tree.hpp"

namespace c3 { inline namespace configs {

/// \throws ConfigError, at \p at and \p key, where more than \p leave_out of what \p reading describes is not
/// modelled; it names every such part with its share
void refuse_unmodelled(const FileReading& reading, double leave_out, const Origin& at, std::string_view key,
                       std::string_view option);

/// Puts the keys that `model.from` names a file of below those of [model]. Nothing happens without that key.
/// \throws ConfigError
void place_model(Table& root);

/// What [model] may hold besides its keys.
std::vector<KeyRule> model_file_rules();

}}  // namespace c3::configs
